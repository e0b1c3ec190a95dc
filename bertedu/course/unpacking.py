"""A learner's own folder: notebooks, pictures and the tasks' data, copied there. What the learner has changed stays."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from bertedu.course.data import data_path, shipped_notebooks
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
    """Copy the learner's notebooks, their pictures and data/tasks into a folder, which is made if need be.

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
    for name, path in course_files(source).items():
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


def course_files(source: Path) -> dict[str, Path]:
    """What a learner gets, by its name in the learner's folder.

    The notebooks in `source` without the solved ones and an editor's copies, their pictures, and data/tasks, so that
    the commands of the documentation find them there.
    """
    notebooks, pictures, tasks = source.glob("[0-9]*.ipynb"), source.glob("pictures/*"), data_path("tasks")
    found = {path.relative_to(source).as_posix(): path for path in sorted([*notebooks, *pictures]) if path.is_file()}
    data = {f"data/tasks/{path.relative_to(tasks).as_posix()}": path for path in sorted(tasks.rglob("*"))}
    return found | {name: path for name, path in data.items() if path.is_file()}


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


def first_notebook(folder: Path) -> Path:
    """Chapter 00 in a learner's folder, or in `notebooks` inside it. Raises UserError where neither has it."""
    for place in (folder, folder / "notebooks"):
        if (place / FIRST).is_file():
            return place / FIRST
    raise UserError(f"{folder} holds no {FIRST}: unpack the course first with `bertedu start my-course`.")
