"""A learner's own folder: the notebooks and their pictures, copied there. What the learner has changed stays."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from bertedu.course.data import shipped_notebooks
from bertedu.errors import UserError
from bertedu.files import copy, read_bytes, read_json_object, write_json

RECORD = ".bertedu.json"  # what was unpacked, so that a newer course replaces only files that nobody has changed
FIRST = "00_start_here.ipynb"


@dataclass
class Unpacked:
    """What `unpack` did with each file, by its name in the learner's folder."""

    written: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def unpack(folder: Path) -> Unpacked:
    """Copy the learner's notebooks and pictures into a folder, which is made if need be.

    A file that is there already is replaced only where it is still as an earlier call wrote it; any other is kept.
    Raises UserError where the folder is the course's own, or cannot be written.
    """
    source = shipped_notebooks()
    if folder.resolve().is_relative_to(source.resolve()):
        raise UserError(f"{folder} is the folder of the course itself: choose another for your work.")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: choose another name for the folder of your work.")
    record = folder / RECORD
    earlier = read_json_object(record, {"files": dict})["files"] if record.exists() else {}
    now, result = {}, Unpacked()
    for path in course_files(source):
        name = path.relative_to(source).as_posix()
        now[name] = digest(path)
        there = digest(folder / name) if (folder / name).exists() else None
        if there is None:
            copy(path, folder / name)
            result.written.append(name)
        elif there == now[name]:
            result.same.append(name)
        elif there == earlier.get(name):
            copy(path, folder / name)
            result.updated.append(name)
        else:
            result.kept.append(name)
            now[name] = earlier.get(name, "")
    write_json(record, {"files": now})
    return result


def course_files(source: Path) -> list[Path]:
    """The notebooks and the pictures in a folder of notebooks, without the solved ones and an editor's copies."""
    return [*sorted(source.glob("[0-9]*.ipynb")), *sorted(path for path in source.glob("pictures/*") if path.is_file())]


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


def first_notebook(folder: Path) -> Path:
    """Chapter 00 in a learner's folder, or in `notebooks` inside it. Raises UserError where neither has it."""
    for place in (folder, folder / "notebooks"):
        if (place / FIRST).is_file():
            return place / FIRST
    raise UserError(f"{folder} holds no {FIRST}: unpack the course first with `bertedu start my-course`.")
