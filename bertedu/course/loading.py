"""Exercises are loaded when one of their chapter is first asked for: a notebook depends on its own only."""

import re
from importlib import import_module
from pkgutil import iter_modules

from bertedu.course.exercise import EXERCISES, Exercise
from bertedu.course.guarding import ORIGINALS
from bertedu.course.rooms import CHAPTERS, chapter_of, number_of, room_of, sources_in
from bertedu.errors import UserError

REGISTERED = re.compile(r"""^@exercise\(\s*["']([^"']+)["']""", re.MULTILINE)


def all_chapters() -> list[str]:
    """The numbers of the course's chapters, in order: "00", "01", …"""
    return list(map(number_of, sources_in(CHAPTERS)))


def numbers_in(chapter: str) -> list[str]:
    """The numbers of a chapter's exercises, in order, read from its room without running anything there."""
    room = room_of(chapter)
    files = sorted((room / "exercises").glob("*.py")) if room else []
    written = {number for file in files for number in REGISTERED.findall(file.read_text(encoding="utf-8"))}
    known = {number for number, exercise in EXERCISES.items() if exercise.chapter == chapter}
    return sorted(written | known, key=place_of)


def place_of(number: str) -> int:
    """Where an exercise stands in its chapter: 10 for "3.10"."""
    return int(number.partition(".")[2])


def load(chapter: str, kind: str = "exercises") -> list:
    """Import the modules of a chapter's room, its exercises or its variants, with torch and bertedu as they were before
    any answer replaced a part of them. Returns the modules."""
    room = room_of(chapter)
    if room is None:
        return []
    inside = sorted(f"{kind}.{module.name}" for module in iter_modules([str(room / kind)]))
    names = [kind] if (room / f"{kind}.py").exists() else inside
    with ORIGINALS.restored():
        return [import_module(f"bertedu.chapters.{room.name}.{name}") for name in names]


def exercises_of(chapter: str) -> list[Exercise]:
    """A chapter's exercises, in order."""
    load(chapter)
    return sorted((one for one in EXERCISES.values() if one.chapter == chapter), key=lambda one: one.order)


def all_exercises() -> list[Exercise]:
    """The exercises of all chapters, in order."""
    return [exercise for chapter in all_chapters() for exercise in exercises_of(chapter)]


def is_known(number: str) -> bool:
    """Whether there is an exercise of that number."""
    return number in EXERCISES or number in numbers_in(chapter_of(number))


def find(number: str) -> Exercise:
    """The exercise of that number. Raises UserError where there is none."""
    if not isinstance(number, str):
        raise UserError(f'{number!r}: write the number of an exercise first and in quotes, as in check("3.2", …).')
    if number not in EXERCISES:
        load(chapter_of(number))
    if number not in EXERCISES:
        near = numbers_in(chapter_of(number))
        known = f"choose one of {', '.join(near)}" if near else f"the chapters are {', '.join(all_chapters())}"
        raise UserError(f"there is no exercise {number!r}: {known}.")
    return EXERCISES[number]
