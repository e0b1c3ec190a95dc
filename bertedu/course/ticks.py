"""What has been solved, kept in a small file in the user's folder. It can be deleted: only the ticks are lost.

A tick is the number of an exercise, or a question of a quiz with its first attempt: "quiz 3.2: right".
"""

import json
import os
from contextlib import suppress
from pathlib import Path

from bertedu.course.loading import all_chapters, numbers_in
from bertedu.errors import UserError
from bertedu.files import write_json
from bertedu.templates import template

TABLE = template("""\
<table><tr><th>chapter</th><th style='text-align: left'>exercises</th><th>solved</th><th>quiz, right at once</th></tr>
{%- for chapter, marks, count, quiz in rows -%}
<tr><td>{{ chapter }}</td><td style='text-align: left'>{{ marks }}</td><td>{{ count }}</td><td>{{ quiz }}</td></tr>
{%- endfor -%}
{%- if more -%}
<tr><td></td><td style='text-align: left'>and {{ more }} more chapters</td><td></td><td></td></tr>
{%- endif -%}
</table>""")
solved_here: set[str] = set()  # in this session, so that a read-only disk loses nothing until it ends


def ticks_file() -> Path | None:
    """$BERTEDU_PROGRESS, or progress.json in the user's data folder. None where the variable is `off`."""
    chosen = os.environ.get("BERTEDU_PROGRESS")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "bertedu" / "progress.json"


def solved() -> set[str]:
    """The ticks so far. A file that is missing or damaged counts as empty."""
    file = ticks_file()
    try:
        kept = json.loads(file.read_text(encoding="utf-8")) if file else []
    except (OSError, ValueError):
        kept = []
    numbers = kept if isinstance(kept, list) else []
    return solved_here | {number for number in numbers if isinstance(number, str)}


def remember(number: str) -> None:
    """Keep a tick. A disk that cannot be written costs the tick after this session, nothing else."""
    solved_here.add(number)
    file, numbers = ticks_file(), solved()
    if file is None:
        return
    with suppress(UserError):
        write_json(file, sorted(numbers))


class Progress:
    """A table of the chapters with what is solved in each, and the first attempts at the questions of its quiz: up to
    the last chapter in which something was done, and one further."""

    def __init__(self, done: set[str]):
        rows, begun = [], 0
        for chapter in all_chapters():
            own = numbers_in(chapter)
            marks = " ".join(("✓" if number in done else "·") + " " + number for number in own)
            attempts = [tick for tick in done if tick.startswith(f"quiz {chapter.lstrip('0') or '0'}.")]
            quiz = f"{sum(tick.endswith('right') for tick in attempts)} of {len(attempts)}" if attempts else ""
            rows.append((chapter, marks, f"{sum(number in done for number in own)} of {len(own)}", quiz))
            begun = len(rows) if attempts or done & set(own) else begun
        self.rows, self.more = rows[: begun + 1], len(rows[begun + 1 :])

    def __repr__(self) -> str:
        width = max((len(row[1]) for row in self.rows), default=0)
        lines = [
            f"{chapter:<4}{marks:{width}}  {count}" + (f"  quiz {quiz} right at once" if quiz else "")
            for chapter, marks, count, quiz in self.rows
        ]
        rest = [f"and {self.more} more chapters"] if self.more else []
        return "\n".join(("Solved so far, by chapter", *lines, *rest))

    def _repr_html_(self) -> str:
        return TABLE.render(rows=self.rows, more=self.more)


def progress() -> Progress:
    """Which exercises are solved, and how the quizzes went, chapter by chapter."""
    return Progress(solved())
