"""course.toml: which chapters and exercises a teacher's course has, and in which order."""

import datetime
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bertedu.course.building.places import Places
from bertedu.course.loading import numbers_in
from bertedu.course.rooms import in_full, number_of
from bertedu.errors import UserError, shown
from bertedu.files import read_text

OF_A_COURSE = {"title": str, "chapter": list}
OF_AN_ENTRY = {
    "number": (int, str),
    "notebook": str,
    "title": str,
    "about": str,
    "minutes": int,
    "date": (str, datetime.date),
    "links": list,
    "only": list,
    "without": list,
}
MEANT = {
    str: "text in quotes",
    int: "a number",
    list: "a list",
    (int, str): 'a number, or "1b"',
    (str, datetime.date): "a date or a text",
}


@dataclass(frozen=True)
class Entry:
    """A notebook of the course: one of ours or of the teacher's own, and what is different in it.

    number ("03") is None for the teacher's own; line is where it begins in course.toml.
    """

    source: Path
    number: str | None
    line: int
    title: str | None = None
    about: str | None = None
    minutes: int | None = None
    date: str | None = None
    links: tuple[tuple[str, str], ...] = ()
    without: frozenset[str] = field(default_factory=frozenset)

    @property
    def file(self) -> str:
        """The name of its notebook."""
        return f"{self.source.stem}.ipynb"


@dataclass(frozen=True)
class Course:
    """What a course.toml says."""

    path: Path
    title: str
    entries: tuple[Entry, ...]


def read_course(path: Path, places: Places) -> Course:
    """Read course.toml. Raises UserError, with the line, for anything in it that cannot be."""
    text = read_text(path)
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is no TOML: {error}.") from None
    check_keys(told, OF_A_COURSE, str(path))
    if not told.get("chapter") or not all(isinstance(one, dict) for one in told["chapter"]):
        raise UserError(f"{path} names no chapter: write [[chapter]] and below it number = 3.")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[\s*chapter\s*\]\]", line)]
    lines += [1] * (len(told["chapter"]) - len(lines))  # written as chapter = [{…}]
    entries = tuple(entry(one, path, line, places) for one, line in zip(told["chapter"], lines, strict=False))
    names: dict[str, Entry] = {}
    for one in entries:
        if one.file in names:
            raise UserError(f"{path}, line {one.line}: {one.file} is there already, from line {names[one.file].line}.")
        names[one.file] = one
    return Course(path, told.get("title", "A course of BERT"), entries)


def check_keys(told: Mapping[str, Any], known: Mapping[str, Any], where: str) -> None:
    """Raise UserError for a word that means nothing here, or a value of another type."""
    for name, value in told.items():
        if name not in known:
            raise UserError(f"{where}: {name} means nothing here; there are {', '.join(known)}.")
        if not isinstance(value, known[name]) or isinstance(value, bool):
            raise UserError(f"{where}: {name} is {shown(value)}: give {MEANT[known[name]]}.")
        if value in ("", []) or (isinstance(value, str) and not value.strip()):
            raise UserError(f"{where}: {name} is empty: leave it out.")
        if isinstance(value, str) and not value.isprintable():
            raise UserError(f"{where}: {name} is {shown(value)}: write one line, without control characters.")


def entry(told: Mapping[str, Any], path: Path, line: int, places: Places) -> Entry:
    """One [[chapter]]."""
    where = f"{path}, line {line}"
    check_keys(told, OF_AN_ENTRY, where)
    if ("number" in told) == ("notebook" in told):
        raise UserError(f"{where}: give either number (a chapter of ours) or notebook (a file of yours).")
    number = in_full(str(told["number"])) if "number" in told else None
    source = chapter_of_ours(number, places, where) if number is not None else own(told["notebook"], path, where)
    if "minutes" in told and not 1 <= told["minutes"] <= 1000:
        raise UserError(f"{where}: minutes is {told['minutes']}: give 1 to 1000.")
    return Entry(
        source,
        number,
        line,
        title=told.get("title"),
        about=told.get("about"),
        minutes=told.get("minutes"),
        date=in_words(told["date"]) if "date" in told else None,
        links=tuple(link(one, where) for one in told.get("links", ())),
        without=left_out(told, number, where),
    )


def chapter_of_ours(number: str, places: Places, where: str) -> Path:
    """The source of a chapter."""
    sources = {number_of(source): source for source in places.all_sources()}
    if number not in sources:
        raise UserError(f"{where}: there is no chapter {number}; there are {', '.join(sources)}.")
    return sources[number]


def own(name: str, path: Path, where: str) -> Path:
    """The teacher's own notebook, beside course.toml."""
    source = path.parent / name
    if source.suffix not in (".py", ".ipynb"):
        raise UserError(f"{where}: {name} should end with .py (py:percent) or .ipynb.")
    if not source.is_file():
        raise UserError(f"{where}: {source} is not there: write it, or correct the name.")
    return source


def in_words(date: str | datetime.date) -> str:
    """A date as "Monday, 5 October 2026", a text as it is."""
    return f"{date:%A}, {date.day} {date:%B %Y}" if isinstance(date, datetime.date) else date


def link(told: Any, where: str) -> tuple[str, str]:
    """A link: its text and its address."""
    if not isinstance(told, dict) or set(told) != {"text", "to"} or not all(isinstance(v, str) for v in told.values()):
        raise UserError(f'{where}: a link is written {{text = "Slides", to = "https://…"}}, and not {shown(told)}.')
    if not told["text"].strip() or not re.fullmatch(r"[^\s()<>]+", told["to"]):
        raise UserError(f"{where}: the link {shown(told)} needs a text, and an address without spaces and brackets.")
    return told["text"].strip(), told["to"]


def left_out(told: Mapping[str, Any], number: str | None, where: str) -> frozenset[str]:
    """The exercises that the chapter goes without."""
    if "only" not in told and "without" not in told:
        return frozenset()
    if number is None or ("only" in told and "without" in told):
        raise UserError(f"{where}: give only (what stays) or without (what goes), for a chapter of ours.")
    there = set(numbers_in(number))
    named = told.get("only", told.get("without"))
    for one in named:
        if not isinstance(one, str) or one not in there:
            known = ", ".join(f'"{known}"' for known in sorted(there))
            raise UserError(f"{where}: chapter {number} has no exercise {shown(one)}; it has {known}, in quotes.")
    return frozenset(there - set(named) if "only" in told else named)
