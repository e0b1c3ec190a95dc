"""Accepted answers, kept as text beside the ticks: parts of the reader's own BERT. Nothing of them is run here.

The newest accepted answer to an exercise counts. The file can be deleted: only these texts are lost.
"""

from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bertedu.course.parts import BY_NUMBER
from bertedu.course.sources import NoSource, source_of
from bertedu.course.ticks import ticks_file
from bertedu.errors import UserError
from bertedu.files import read_json_object, write_json
from bertedu.json_values import whole

ENTRY = {"name": str, "imports": list[str], "pieces": list[str], "accepted": str}
kept_here: dict[str, "Answer"] = {}  # what could not be written, until this session ends


@dataclass(frozen=True)
class Answer:
    """The source of an accepted answer: its name, its imports, its statements (the answer last), and the day."""

    name: str
    imports: list[str]
    pieces: list[str]
    accepted: str


def answers_file() -> Path | None:
    """Beside the ticks: progress.answers.json. None where nothing is to be kept."""
    ticks = ticks_file()
    return ticks.with_suffix(".answers.json") if ticks else None


def kept() -> dict[str, Answer]:
    """The accepted answers by exercise, this session's included. Raises UserError for a damaged file."""
    file = answers_file()
    if file is None:
        return {}
    if not file.exists():
        return dict(kept_here)
    found = read_json_object(file, {})
    return {number: Answer(**whole(entry, ENTRY, f"{file}, {number}")) for number, entry in found.items()} | kept_here


def keep(number: str, answer: Any) -> str | None:
    """Keep the source of an accepted answer that is a part of BERT, in place of an earlier one. Returns a sentence
    where that failed."""
    file = answers_file()
    if file is None or number not in BY_NUMBER:
        return None
    try:
        source = source_of(number, answer)
        kept_here[number] = Answer(source.name, list(source.imports), list(source.pieces), date.today().isoformat())
        write(file, kept())
        kept_here.pop(number)  # it is on the disk now, and may be forgotten there
    except NoSource as reason:
        return f"It is not kept for your own BERT: {reason}. Define it with `def` or `class` in a cell."
    except UserError as error:
        return f"It is kept for your own BERT in this session only: {error}"
    except Exception as error:  # an answer can be an object that raises anything when it is asked
        return f"It is not kept for your own BERT: its source could not be read ({type(error).__name__})."
    return None


def forget(number: str) -> None:
    """Remove a kept answer. Raises UserError where there is none."""
    answers, file = kept(), answers_file()
    if number not in answers or file is None:
        known = f"kept are {', '.join(sorted(answers))}" if answers else "no answer is kept yet"
        raise UserError(f"no answer to {number} is kept: {known}.")
    kept_here.pop(number, None)
    write(file, {other: answer for other, answer in answers.items() if other != number})


def write(file: Path, answers: dict[str, Answer]) -> None:
    """Write the file, whole or not at all."""
    write_json(file, {number: asdict(answer) for number, answer in sorted(answers.items())})
