"""What was handed in: the notebooks of each student, from the ways in which people have them.

A folder for each student with notebooks in it (also nbgrader's submitted/STUDENT/ASSIGNMENT/), files named
STUDENT_NOTEBOOK.ipynb, a zip file of either, as learning platforms give it, and zip files inside it.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from bertedu.errors import UserError

MOST_BYTES = 30_000_000  # of one notebook, unpacked
MOST_FILES = 20_000
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
    for path, data in sorted(files(place), key=lambda one: one[0]):
        student, notebook = whose(path, released)
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
    submission.notebooks[notebook] = read


def files(place: Path) -> Iterator[tuple[str, bytes | str]]:
    """The notebooks below a folder or in a zip file: their paths, and their bytes or what is wrong with them."""
    if place.is_file():
        if not zipfile.is_zipfile(place):
            raise UserError(f"{place} is neither a folder nor a zip file.")
        yield from in_zip(place.read_bytes(), "")
        return
    for count, path in enumerate(sorted(place.rglob("*"))):
        name = path.relative_to(place).as_posix()
        if count > MOST_FILES:
            raise UserError(f"{place} holds more than {MOST_FILES:,} files: give the folder of the submissions alone.")
        if LEFT_OUT.search(name) or path.is_symlink() or not path.is_file():
            continue
        if path.suffix.lower() not in (".ipynb", ".zip"):
            continue
        if path.stat().st_size > MOST_BYTES:
            yield name, f"larger than {MOST_BYTES // 10**6} MB"
        elif path.suffix.lower() == ".zip":
            yield from in_zip(path.read_bytes(), f"{name.removesuffix(path.suffix)}/")
        else:
            yield name, path.read_bytes()


def in_zip(data: bytes, before: str) -> Iterator[tuple[str, bytes | str]]:
    """The notebooks in a zip file, and in zip files in it. Nothing is unpacked to the disk."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist()[:MOST_FILES]:
                name = before + entry.filename.replace("\\", "/")
                if LEFT_OUT.search(name) or entry.is_dir() or ".." in PurePosixPath(name).parts:
                    continue
                inner = name.lower().endswith(".zip") and before.count("/") < 3
                if not name.lower().endswith(".ipynb") and not inner:
                    continue
                if entry.file_size > MOST_BYTES:
                    yield name, f"larger than {MOST_BYTES // 10**6} MB"
                    continue
                with archive.open(entry) as file:
                    content = file.read(MOST_BYTES + 1)
                if inner:
                    yield from in_zip(content, f"{name[:-4]}/")
                else:
                    yield name, content
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError) as error:
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
