"""The files among the submissions: in a folder, in a zip file, and in zip files inside it."""

import io
import re
import struct
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bertedu.errors import UserError

MOST_BYTES = 30_000_000  # of one notebook, unpacked
MOST_FILES = 20_000
MOST_OF_ONE = 100_000_000  # bytes that one student's part of a zip file may have, unpacked
MOST_OF_A_PATH = 1000  # characters
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, ValueError, OSError, EOFError)
LEFT_OUT = re.compile(r"(^|/)(\.|__MACOSX)|\.ipynb_checkpoints/|-checkpoint\.ipynb$")
HIDDEN = "hidden, or a copy that Jupyter or the system made"
NO_HAND_IN = "neither a notebook nor a zip file"
NO_TIME = (1980, 1, 1, 0, 0, 0)  # what a zip file says where it knows no time


@dataclass(frozen=True)
class File:
    """A file among the submissions: its path, when it was saved, and its bytes, or why there are none."""

    path: str
    saved: tuple[int, ...] = ()  # year, month, day, hour, minute, second, on the clock of who saved it
    data: bytes | None = None
    trouble: str = ""  # what is wrong with a notebook or zip file that should have been read
    unused: str = ""  # why it is nothing to read


def files(place: Path) -> Iterator[File]:
    """What lies below a folder or in a zip file."""
    if place.is_file():
        if not zipfile.is_zipfile(place):
            raise UserError(f"{place} is neither a folder nor a zip file.")
        yield from in_zip(place.read_bytes(), "", saved_at(place), Counter())
        return
    for count, path in enumerate(sorted(place.rglob("*"))):
        name = path.relative_to(place).as_posix()
        if count > MOST_FILES:
            raise UserError(f"{place} holds more than {MOST_FILES:,} files: give the folder of the submissions alone.")
        if path.is_symlink():
            yield File(name, unused="a link to another file")
        elif path.is_file():
            yield from on_disk(path, name)


def on_disk(path: Path, name: str) -> Iterator[File]:
    """A file of a folder, or the files in it."""
    if reason := nothing_to_read(name):
        yield File(name, unused=reason)
        return
    try:
        data = path.read_bytes() if path.stat().st_size <= MOST_BYTES else None
        saved = saved_at(path)
    except OSError as error:
        yield File(name, trouble=f"it cannot be read ({error.strerror})")
        return
    if data is None:
        yield File(name, trouble=f"larger than {MOST_BYTES // 10**6} MB")
    elif path.suffix.lower() == ".zip":
        yield from in_zip(data, f"{name.removesuffix(path.suffix)}/", saved, Counter())
    else:
        yield File(name, saved, data)


def saved_at(path: Path) -> tuple[int, ...]:
    """When a file was saved, as a zip file says it."""
    return tuple(time.localtime(path.stat().st_mtime)[:6])


def nothing_to_read(name: str) -> str:
    """Why a file cannot be a hand-in, from its name; nothing where it can."""
    if LEFT_OUT.search(name):
        return HIDDEN
    return "" if name.lower().endswith((".ipynb", ".zip")) else NO_HAND_IN


def in_zip(data: bytes, before: str, saved: tuple[int, ...], unpacked: Counter[str]) -> Iterator[File]:
    """What is in a zip file, and in zip files in it. Nothing is unpacked to the disk.

    saved: when the zip file was, for entries without a time. unpacked: how many bytes each student's part has had.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_FILES:
                yield File(f"{before}…", unused=f"the zip file has {len(entries) - MOST_FILES:,} files too many")
            for entry in sorted(entries[:MOST_FILES], key=lambda entry: entry.filename):
                if not entry.is_dir():
                    yield from entry_of(archive, entry, before, saved, unpacked)
    except DAMAGED as error:
        yield File(f"{before}notebook.ipynb", trouble=f"the zip file cannot be read ({str(error)[:80]})")


def entry_of(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, before: str, saved: tuple[int, ...], unpacked: Counter[str]
) -> Iterator[File]:
    """A file in a zip file, or the files in it."""
    name = before + entry.filename.replace("\\", "/")
    inner = name.lower().endswith(".zip")
    reason = nothing_to_read(name)
    if len(name) > MOST_OF_A_PATH:
        name, reason = f"{name[:100].rstrip()}…", "its path is too long"
    elif ".." in PurePosixPath(name).parts:
        reason = "its path leads out of the zip file"
    elif inner and before.count("/") >= 3:
        reason = "a zip file in a zip file in a zip file"
    if reason:
        yield File(name, unused=reason)
        return
    part = name.partition("/")[0]
    if entry.file_size > MOST_BYTES or unpacked[part] + entry.file_size > MOST_OF_ONE:
        yield File(name, trouble="larger than the grader unpacks")
        return
    unpacked[part] += entry.file_size
    with archive.open(entry) as file:
        content = file.read(MOST_BYTES + 1)
    when = entry.date_time if entry.date_time > NO_TIME else saved
    if inner:
        yield from in_zip(content, f"{name[:-4]}/", when, unpacked)
    else:
        yield File(name, when, content)
