"""The rooms of the chapters: `bertedu/chapters/ch03_self_attention/` holds all that chapter 03 is.

    03_self_attention.py    the source of the notebook, exercises solved
    exercises/              how answers are examined
    quiz.json  interview.toml  teaching.md

A chapter is called by its number, two digits and at most a letter: "03", "01b". Its exercises are 3.1 and 1b.1.
"""

import re
from pathlib import Path

CHAPTERS = Path(__file__).resolve().parents[1] / "chapters"
ROOM = re.compile(r"ch(\d\d[a-z]?)_\w+")
EXERCISE = re.compile(r"(\d{1,2}[a-z]?)\.(\d{1,2})")


def sources_in(chapters: Path) -> list[Path]:
    """The sources of all notebooks in a folder of rooms, in order."""
    found = [(room, room / f"{room.name.removeprefix('ch')}.py") for room in sorted(chapters.glob("ch*"))]
    return [source for room, source in found if ROOM.fullmatch(room.name) and source.is_file()]


def number_of(source: Path) -> str:
    """The number of a chapter, from the name of its source or notebook: "03" for 03_self_attention.py."""
    return source.name.partition("_")[0]


def drawing_files(room: Path) -> list[Path]:
    """The files whose functions draw the pictures of a chapter: pictures.py, and pictures_….py where there are many."""
    return sorted(room.glob("pictures*.py"))


def room_of(chapter: str) -> Path | None:
    """The room of a chapter of the course ("03"); None where there is none."""
    return next(CHAPTERS.glob(f"ch{chapter}_*"), None)


def in_full(chapter: str) -> str:
    """A chapter's number with two digits: "03" for "3", "01b" for "1b"."""
    return re.sub(r"^\d(?!\d)", r"0\g<0>", chapter)


def chapter_of(exercise: str) -> str:
    """The chapter of an exercise: "03" for "3.2"."""
    return in_full(exercise.partition(".")[0])
