"""What was handed in: the notebooks of each student, from the ways in which people have them.

A folder for each student with notebooks in it (also nbgrader's submitted/STUDENT/ASSIGNMENT/), files named
STUDENT_NOTEBOOK.ipynb, a zip file of either, as learning platforms give it, and zip files inside it. What is not used
is named, with the likely reason.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any

from bertedu.classroom.grading.cells import sources
from bertedu.classroom.grading.handed_in import HIDDEN, NO_HAND_IN, File, files
from bertedu.errors import UserError

MOST_CODE = 300_000  # characters in the code cells of one notebook
OLDER = "the same notebook was handed in again later"
COPY = re.compile(r"(?:\s*\((\d{1,9})\)|\s*-\s*Copy(\d{0,9})|-(\d{1,9}))(?=\.ipynb$)", re.IGNORECASE)
Age = tuple[tuple[int, ...], int, str]


@dataclass
class Submission:
    """One student's notebooks by the name of the released one, and what could not be read, in words."""

    student: str
    notebooks: dict[str, Any] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)


@dataclass
class Received:
    """All that was handed in: the submissions by student, and each file that is not used, with the likely reason."""

    submissions: dict[str, Submission]
    unused: dict[str, str] = field(default_factory=dict)


def read_submissions(place: Path, released: Sequence[str], roster: Sequence[str] = ()) -> Received:
    """The submissions in a folder or zip file, by student, in the order of their names.

    roster: students who should be listed although they handed in nothing. Of two hand-ins of a notebook the one that
    was saved last is taken. Raises UserError where nothing is found.
    """
    place = Path(place)
    if not place.exists():
        raise UserError(f"{place} does not exist: give the folder or zip file with the submissions.")
    if place.is_dir() and (place / "submitted").is_dir():
        place = place / "submitted"
    found: dict[str, Submission] = {name: Submission(name) for name in roster}
    versions: dict[tuple[str, str], list[tuple[Age, Any, bool]]] = {}
    unused: dict[str, str] = {}
    for file in files(place):
        path = readable(file.path)
        student, notebook = whose(path, released)
        if file.trouble and "/" in path:
            student, notebook = student or path.partition("/")[0], notebook or path
        if file.unused or not student or not notebook:
            unused[path] = file.unused or file.trouble or why_unused(path, released)
            continue
        submission = found.setdefault(student, Submission(student))
        try:
            code, whole = opened(file)
            versions.setdefault((student, notebook), []).append((age(file.saved, path), code, whole))
        except ValueError as error:
            submission.troubles.append(f"{path}{error}")
    for (student, notebook), handed_in in versions.items():
        choose(found[student], notebook, handed_in, unused)
    if not any(one.notebooks or one.troubles for one in found.values()):
        seen = next((f" I found {path}: {reason}." for path, reason in unused.items()), "")
        raise UserError(
            f"{place} has no submission of {' or '.join(released)}: I look for STUDENT/NOTEBOOK.ipynb, for "
            f"STUDENT_NOTEBOOK.ipynb, and in zip files for both.{seen}"
        )
    for path, reason in unused.items():
        own = found.get(path.partition("/")[0])
        if own and reason not in (HIDDEN, NO_HAND_IN, OLDER) and path.lower().endswith((".ipynb", ".zip")):
            own.troubles.append(f"{path} was not used: {reason}")
    return Received(dict(sorted(found.items())), unused)


def choose(submission: Submission, notebook: str, handed_in: list[tuple[Age, Any, bool]], unused: dict) -> None:
    """Of all that a student handed in for a notebook take what was saved last, and say so."""
    *older, newest = sorted(handed_in, key=lambda one: one[0])
    saved, _, path = newest[0]
    submission.notebooks[notebook] = newest[1]
    if older:
        when = f" ({saved[0]:04}-{saved[1]:02}-{saved[2]:02} {saved[3]:02}:{saved[4]:02})" if saved else ""
        submission.troubles.append(f"{notebook} was handed in more than once: {path} is graded, the newest{when}")
        unused |= {one[2]: OLDER for one, *_ in older}
    if not newest[2]:
        submission.troubles.append(f"{path} has more than {MOST_CODE:,} characters of code: the rest was not read")


def age(saved: tuple[int, ...], path: str) -> Age:
    """What tells which of two hand-ins is the newer: when it was saved, then the number that a platform gave it."""
    copy = COPY.search(path)
    number = next((int(digits) for digits in copy.groups() if digits), 1) if copy else 0
    return saved, number, path


def opened(file: File) -> tuple[dict, bool]:
    """A notebook's code, and whether that is all of it. Raises ValueError with what is wrong with the file."""
    if file.data is None:
        raise ValueError(f": {file.trouble}")
    try:
        read = json.loads(file.data.decode("utf-8-sig"))
        if not isinstance(read, dict) or not isinstance(read.get("cells"), list):
            raise ValueError("it has no cells")
    except (ValueError, RecursionError) as error:
        raise ValueError(f" is no notebook ({str(error)[:80]})") from error
    return only_code(read)


def only_code(notebook: dict) -> tuple[dict, bool]:
    """A notebook without its text and outputs, and whether all of its code is in it."""
    kept: list[dict] = []
    length = 0
    for grade_id, own_id, source in sources(notebook):
        length += len(source)
        if length > MOST_CODE:
            return {"cells": kept}, False
        about = {"nbgrader": {"grade_id": grade_id}}
        kept.append({"cell_type": "code", "id": own_id, "metadata": about, "source": source})
    return {"cells": kept}, True


def readable(path: str) -> str:
    """A path whose letters are the same however a system writes them, and that any file can hold."""
    return unicodedata.normalize("NFC", path.encode("utf-8", "replace").decode())


def why_unused(path: str, released: Sequence[str]) -> str:
    """The likely reason why a notebook is nobody's hand-in."""
    *folders, name = PurePosixPath(path).parts
    stems = {notebook.removesuffix(".ipynb").lower(): notebook for notebook in released}
    plain = COPY.sub("", name).lower().removesuffix(".ipynb")
    if plain in stems and not folders:
        return f"nobody's name is in its path: put it into the student's folder, or call it STUDENT_{stems[plain]}"
    inside = [stem for stem in stems if stem in plain]
    if near := inside or get_close_matches(plain, stems, 1, 0.5):
        return f"perhaps {stems[near[0]]} under another name: rename it"
    return f"no notebook of the assignment has this name ({', '.join(released)})"


def whose(path: str, released: Sequence[str]) -> tuple[str, str]:
    """The student and the released notebook of a path; nothing where it is neither."""
    *folders, name = PurePosixPath(path).parts
    plain = re.sub(r"\.ipynb$", "", COPY.sub("", name), flags=re.IGNORECASE)
    for notebook in sorted(released, key=len, reverse=True):
        stem = notebook.removesuffix(".ipynb")
        if plain == stem and folders:
            return folders[0], notebook
        if plain.endswith(f"_{stem}") or plain.endswith(f"-{stem}"):
            return (folders[0] if folders else plain[: -len(stem) - 1]), notebook
    return "", ""
