"""What was answered in a quiz, kept beside the ticks of the exercises: the first attempt at each question."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bertedu.course.ticks import remember, solved

SCRIPT = Path(__file__).with_suffix(".js")
KEPT = re.compile(r"quiz (\d+[a-z]?)\.(\d+): (right|wrong)")


def keep_answers(chapter: int | str) -> None:
    """Listen to the quiz that this cell shows. The first attempt at a question counts, and only once."""
    from IPython.display import Javascript, display
    from ipywidgets import Text

    box = Text(layout={"display": "none"})
    box.add_class("bertedu-quiz-answers")
    box.observe(lambda change: keep(chapter, change["new"]), names="value")
    display(box, Javascript(f"(function () {{\n{SCRIPT.read_text('utf-8')}}})();"))


def keep(chapter: int | str, told: str) -> None:
    """Remember what the page tells: {"2": true}, the second question was answered right at the first attempt."""
    try:
        answers = json.loads(told)
    except ValueError:
        return
    if not isinstance(answers, dict):
        return
    known = first_attempts(solved()).get(str(chapter), {})
    for question, right in answers.items():
        if re.fullmatch(r"[1-9]\d?", question) and isinstance(right, bool) and int(question) not in known:
            remember(f"quiz {chapter}.{question}: {'right' if right else 'wrong'}")


def first_attempts(ticks: Iterable[Any]) -> dict[str, dict[int, bool]]:
    """Of ticks those of quizzes: chapter -> question -> whether the first attempt was right."""
    found: dict[str, dict[int, bool]] = {}
    for tick in ticks:
        if isinstance(tick, str) and (match := KEPT.fullmatch(tick)):
            found.setdefault(match[1], {})[int(match[2])] = match[3] == "right"
    return found
