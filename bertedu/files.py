"""Reading and writing so that nothing is lost: text that must be UTF-8, files that appear whole or not at all.

Only regular files are read and written: a pipe or a device may never end, and would be replaced by a file.
"""

import json
import math
import os
import shlex
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.json_values import check_object, parse_json
from bertedu.utf8 import decode

MOST_BYTES = 500_000_000  # of one file, after unpacking: more than a small machine has memory to work on
MOST_BYTES_OF_JSON = 50_000_000  # settings and figures: the largest tokenizer.json of a BERT has 3 MB
LIMIT = "BERTEDU_MOST_BYTES"  # the variable that raises it
NOT_ON_A_DISK = ("/proc", "/sys")  # files there look regular, and may block or go on without end


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; it replaces `path` when the block ends well.

    When the block fails, what was written is removed and `path` is as it was. A failure of the disk
    (full, read-only, not allowed) becomes a UserError that names the file, and so does a `path` that is a folder, a
    link or a device.
    """
    path = Path(path)
    refuse_to_replace(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with naming_failures(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield beside
            with open(beside, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(beside, path)
    finally:
        with suppress(OSError):  # the name may lead through a file
            beside.unlink(missing_ok=True)


@contextmanager
def naming_failures(path: str | Path) -> Iterator[None]:
    """Turn what the disk refuses inside the block (it is full, read-only, not allowed) into a UserError."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{path} could not be written ({error.strerror or error}): free some space or choose another folder; "
            "what was saved before is kept."
        ) from error


def refuse_to_replace(path: str | Path) -> None:
    """Raise UserError where `path` names no file, or stands for something else than a regular file."""
    path = Path(path)
    if not path.name or "\0" in str(path):
        raise UserError(f"{str(path)!r} is no name of a file: choose one to write to.")
    with suppress(OSError):  # nothing is there, or nobody may look
        if not stat.S_ISREG(path.lstat().st_mode):
            raise UserError(f"{path} is {what_is_there(path.lstat().st_mode)} and stays as it is: choose another name.")


def what_is_there(mode: int) -> str:
    """What an entry of a folder is, in words, by its mode."""
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text with newlines as given, whole or not at all."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise UserError(
            f"{path} could not be written: the text has half a character, {text[error.start]!r}: remove it from what "
            "was given."
        ) from error
    with replacing(path) as beside:
        beside.write_bytes(data)


def copy(path: Path, to: Path) -> None:
    """Copy a file, and make the folders that it goes into."""
    with naming_failures(to):
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON for people: indented, keys in the order given, accents readable."""
    write_text(path, to_json(value, indent=2) + "\n")


def to_json(value: Any, **options: Any) -> str:
    """JSON with accents readable. JSON knows no infinity and no "not a number": both become null."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, **options)
    except ValueError:
        return json.dumps(without_infinities(value), ensure_ascii=False, allow_nan=False, **options)


def without_infinities(value: Any) -> Any:
    """The value with null instead of each number that is infinite or NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: without_infinities(one) for name, one in value.items()}
    return [without_infinities(one) for one in value] if isinstance(value, list | tuple) else value


def most_bytes() -> int:
    """How large a file may be, unpacked: $BERTEDU_MOST_BYTES, or 500 MB. Raises UserError where that is no number."""
    chosen = os.environ.get(LIMIT, "").replace("_", "").strip()
    if chosen and not (chosen.isascii() and chosen.isdigit()):
        raise UserError(f"the variable {LIMIT} is {shown(chosen)}: give a number of bytes, such as 2000000000.")
    return int(chosen) if chosen else MOST_BYTES


def too_large(path: str | Path, most: int) -> UserError:
    """The refusal of a file that is larger than the limit, which can be raised."""
    return UserError(
        f"{path} holds more than {most:,} bytes: divide it, or set the variable {LIMIT} to a larger number."
    )


def refuse_special(path: str | Path) -> None:
    """Raise UserError for what is there and is not a regular file: it may never end. A folder is left to the caller."""
    path = Path(path)
    try:
        mode, real = path.stat().st_mode, os.path.realpath(path)
    except OSError:  # not there, or not to be seen: opening it says why
        return
    except ValueError as error:  # a NUL inside
        raise UserError(f"{str(path)!r} is no name of a file ({error}): choose another.") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise UserError(f"{path} is {what_is_there(mode)}, which may never end: save what it gives to a file.")
    if real.startswith(tuple(f"{folder}/" for folder in NOT_ON_A_DISK)):
        raise UserError(f"{path} is made by the system as it is read and may never end: save a copy to read.")


def read_bytes(path: str | Path, most: int | None = None) -> bytes:
    """What a regular file holds. Raises UserError where it cannot be read, or has more bytes than the limit."""
    path, most = Path(path), most_bytes() if most is None else most
    refuse_special(path)
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > most:
                raise too_large(path, most)
            return file.read()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): check the name and the permissions.") from error


def read_text(path: str | Path, most: int | None = None) -> str:
    """The text of a UTF-8 file of at most so many bytes, a byte-order mark removed. Raises UserError for any other."""
    return decode(read_bytes(path, most), path)


def read_json(path: str | Path, finite: bool = False) -> Any:
    """The value in a JSON file. Raises UserError with line and column where the file is damaged."""
    return parse_json(read_text(path, MOST_BYTES_OF_JSON), path, finite=finite)


def read_json_object(path: str | Path, expected: Mapping[str, Any]) -> dict[str, Any]:
    """The object in a JSON file; what it has of the expected names is of the expected types (see `check_object`)."""
    return check_object(read_json(path, finite=True), expected, path)


def in_package(package: str | None, folder: str = "", ending: str = ".toml") -> list[Traversable]:
    """The files in a folder of a package whose names end so, by name; also where the package is a zip file."""
    found = files(str(package)).joinpath(folder).iterdir()
    return sorted((path for path in found if path.name.endswith(ending)), key=lambda path: path.name)


def quoted(path: str | Path) -> str:
    """A path as it is written in a command for a shell."""
    return shlex.quote(str(path))


def cache_folder() -> Path:
    """Where harvested text is kept between runs: $BERTEDU_CACHE, or the user's cache folder."""
    if chosen := os.environ.get("BERTEDU_CACHE", "").strip():
        return Path(chosen).expanduser()
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "bertedu"
