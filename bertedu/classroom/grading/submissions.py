"""What was handed in: the notebooks of each student, from the ways in which people have them.

A folder for each student with notebooks in it (also nbgrader's submitted/STUDENT/ASSIGNMENT/), files named
STUDENT_NOTEBOOK.ipynb, a zip file of either, as learning platforms give it, and zip files inside it.
"""

import io
import json
import re
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from bertedu.classroom.grading.cells import sources
from bertedu.errors import UserError

MOST_BYTES = 30_000_000  # of one notebook, unpacked
MOST_FILES = 20_000
MOST_OF_ONE = 100_000_000  # bytes that one student's part of a zip file may have, unpacked
MOST_CODE = 300_000  # characters in the code cells of one notebook
MOST_OF_A_PATH = 1000  # characters
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, ValueError, OSError, EOFError)
LEFT_OUT = re.compile(r"(^|/)(\.|__MACOSX)|\.ipynb_checkpoints/|-checkpoint\.ipynb$")


@dataclass
class Submission:
    """One student's notebooks by the name of the released one, and what could not be read, in words."""

    student: str
    notebooks: dict[str, Any] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)


def read_submissions(place: Path, released: Sequence[str], roster: Sequence[str] = ()) -> dict[str, Submission]:
    """The submissions in a folder or zip file, by student, in the order of their names.

    roster: students who should be listed although they handed in nothing. Raises UserError where nothing is found.
    """
    place = Path(place)
    if not place.exists():
        raise UserError(f"{place} does not exist: give the folder or zip file with the submissions.")
    if place.is_dir() and (place / "submitted").is_dir():
        place = place / "submitted"
    found: dict[str, Submission] = {name: Submission(name) for name in roster}
    strangers = []
    for path, data in files(place):
        path = readable(path)
        student, notebook = whose(path, released)
        if isinstance(data, str) and "/" in path:
            student, notebook = student or path.partition("/")[0], notebook or path
        if not student or not notebook:
            strangers.append(path)
            continue
        add(found.setdefault(student, Submission(student)), notebook, path, data)
    if not any(one.notebooks or one.troubles for one in found.values()):
        seen = f" I found {strangers[0]}, which is none of them." if strangers else ""
        raise UserError(
            f"{place} has no submission of {' or '.join(released)}: I look for STUDENT/NOTEBOOK.ipynb, for "
            f"STUDENT_NOTEBOOK.ipynb, and in zip files for both.{seen}"
        )
    return dict(sorted(found.items()))


def add(submission: Submission, notebook: str, path: str, data: bytes | str) -> None:
    """Put a notebook to its student's; of two, the one whose path comes last stays."""
    if isinstance(data, str):
        submission.troubles.append(f"{path}: {data}")
        return
    try:
        read = json.loads(data.decode("utf-8-sig"))
        if not isinstance(read, dict) or not isinstance(read.get("cells"), list):
            raise ValueError("it has no cells")
    except (ValueError, RecursionError) as error:
        submission.troubles.append(f"{path} is no notebook ({str(error)[:80]})")
        return
    if notebook in submission.notebooks:
        submission.troubles.append(f"{notebook} was handed in more than once; {path} is graded")
    submission.notebooks[notebook], whole = only_code(read)
    if not whole:
        submission.troubles.append(f"{path} has more than {MOST_CODE:,} characters of code: the rest was not read")


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


def files(place: Path) -> Iterator[tuple[str, bytes | str]]:
    """The notebooks below a folder or in a zip file: their paths, and their bytes or what is wrong with them."""
    if place.is_file():
        if not zipfile.is_zipfile(place):
            raise UserError(f"{place} is neither a folder nor a zip file.")
        yield from in_zip(place.read_bytes(), "", Counter())
        return
    for count, path in enumerate(sorted(place.rglob("*"))):
        name = path.relative_to(place).as_posix()
        if count > MOST_FILES:
            raise UserError(f"{place} holds more than {MOST_FILES:,} files: give the folder of the submissions alone.")
        if LEFT_OUT.search(name) or path.is_symlink() or not path.is_file():
            continue
        if path.suffix.lower() not in (".ipynb", ".zip"):
            continue
        try:
            data = path.read_bytes() if path.stat().st_size <= MOST_BYTES else None
        except OSError as error:
            yield name, f"it cannot be read ({error.strerror})"
            continue
        if data is None:
            yield name, f"larger than {MOST_BYTES // 10**6} MB"
        elif path.suffix.lower() == ".zip":
            yield from in_zip(data, f"{name.removesuffix(path.suffix)}/", Counter())
        else:
            yield name, data


def in_zip(data: bytes, before: str, unpacked: Counter[str]) -> Iterator[tuple[str, bytes | str]]:
    """The notebooks in a zip file, and in zip files in it. Nothing is unpacked to the disk.

    unpacked: how many bytes each student's part has had so far.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in sorted(archive.infolist()[:MOST_FILES], key=lambda entry: entry.filename):
                name = before + entry.filename.replace("\\", "/")
                if (
                    len(name) > MOST_OF_A_PATH
                    or LEFT_OUT.search(name)
                    or entry.is_dir()
                    or ".." in PurePosixPath(name).parts
                ):
                    continue
                inner = name.lower().endswith(".zip") and before.count("/") < 3
                if not name.lower().endswith(".ipynb") and not inner:
                    continue
                part = name.partition("/")[0]
                if entry.file_size > MOST_BYTES or unpacked[part] + entry.file_size > MOST_OF_ONE:
                    yield name, "larger than the grader unpacks"
                    continue
                unpacked[part] += entry.file_size
                with archive.open(entry) as file:
                    content = file.read(MOST_BYTES + 1)
                if inner:
                    yield from in_zip(content, f"{name[:-4]}/", unpacked)
                else:
                    yield name, content
    except DAMAGED as error:
        yield f"{before}notebook.ipynb", f"the zip file cannot be read ({str(error)[:80]})"


def whose(path: str, released: Sequence[str]) -> tuple[str, str]:
    """The student and the released notebook of a path; nothing where it is neither."""
    *folders, name = PurePosixPath(path).parts
    plain = re.sub(r"(\s*\(\d+\)|\s*-\s*Copy\d*|-\d+)?\.ipynb$", "", name, flags=re.IGNORECASE)
    for notebook in sorted(released, key=len, reverse=True):
        stem = notebook.removesuffix(".ipynb")
        if plain == stem and folders:
            return folders[0], notebook
        if plain.endswith(f"_{stem}") or plain.endswith(f"-{stem}"):
            return (folders[0] if folders else plain[: -len(stem) - 1]), notebook
    return "", ""
