"""Reading and writing so that nothing is lost: text that must be UTF-8, files that appear whole or not at all."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bertedu.errors import UserError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; it takes the place of `path` when the block ends well.

    When the block fails, what was written is removed and `path` is as it was. A failure of the disk
    (full, read-only, not allowed) becomes a UserError that names the file.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        with open(beside, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise UserError(
            f"{path} could not be written ({error.strerror or error}): free some space or choose another folder; "
            "nothing was changed."
        ) from error
    finally:
        with suppress(OSError):  # the name may lead through a file
            beside.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text with newlines as given, whole or not at all."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8", newline="")


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON for people: indented, keys in the order given, accents readable."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file, a byte-order mark removed. Raises UserError for any other file."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): check the name and the permissions.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8: convert the file first, "
            f"for example with `iconv -f latin1 -t utf-8`."
        ) from error


def read_json(path: str | Path) -> Any:
    """The value in a JSON file. Raises UserError with line and column where the file is damaged."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path}, line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); "
            "the file is damaged or cut short: fetch or save it again."
        ) from error


def cache_folder() -> Path:
    """Where harvested text is kept between runs: $BERTEDU_CACHE, or the user's cache folder."""
    if chosen := os.environ.get("BERTEDU_CACHE"):
        return Path(chosen)
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "bertedu"
