"""Opening a file of text: UTF-8, compressed or not, whatever its line ends; refused as a whole or read as a whole."""

import gzip
import os
import re
import warnings
import zlib
from io import BytesIO
from pathlib import Path

from bertedu.errors import UserError
from bertedu.files import most_bytes, read_bytes, too_large
from bertedu.utf8 import decode

# About two novels. A longer text in one row comes from lost line ends or a quote that was never closed,
# and BERT reads 512 tokens of it.
MOST_LOOKED_AT = 1000  # lines
FORMATS = {("{", "}"): "JSON lines", ("<", ">"): "lines with tags, as HTML has"}  # that are no text to learn from
LONGEST_TEXT = 1_000_000  # characters
# UTF-8 that was read as Windows-1252 or Latin-1 and written as UTF-8 again: Ã© for é, â€™ for an apostrophe.
TWICE = re.compile("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac[\u0080-\u00bf\u2018-\u2122]|\u00e2\u0080[\u0080-\u00bf]")
CONTROL = re.compile("[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")  # but for those that end a line, or are white space


def read_plain_text(path: str | Path) -> str:
    """The text of a UTF-8 file, compressed with gzip (.gz) or not, a byte-order mark removed.

    Raises UserError for a file that is missing, cut short, too large or in another encoding.
    """
    path = Path(path)
    refuse_folder(path)
    data = read_bytes(path)
    if path.suffix.lower() == ".gz":
        data = unpacked(data, path)
    return decode(data, path)


def read_running_text(path: str | Path) -> str:
    """The text of a file of prose without its control characters, which BERT's own tokenizer takes away, too.

    Raises UserError as `read_plain_text` does, for a file with so many NULs that it must be UTF-16, and for JSON lines
    and HTML.
    """
    text = read_plain_text(path)
    if text.count("\0") * 10 > len(text):
        raise UserError(f"{path} has a NUL in every few characters, as UTF-16 has: save the file as UTF-8 text.")
    lines = [line for line in text.split("\n", MOST_LOOKED_AT)[:MOST_LOOKED_AT] if line.strip()]
    for (begin, end), name in FORMATS.items():
        if sum(line.strip().startswith(begin) and line.strip().endswith(end) for line in lines) * 4 > 3 * len(lines):
            raise UserError(f"{path} holds {name}: save the text in it alone.")
    warn_of_two_decodings(text, path)
    return CONTROL.sub("", text)


def warn_of_two_decodings(text: str, path: str | Path) -> None:
    """Warn of UTF-8 that was once read as another encoding, so that each letter with an accent became two."""
    if found := TWICE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        warnings.warn(
            f"{path}, line {line}: {found[0]!r} looks like UTF-8 that was read as Windows-1252: open the source again "
            "as UTF-8.",
            stacklevel=3,
        )


def unpacked(data: bytes, path: Path) -> bytes:
    """What was compressed with gzip, as long as it is no more than a file may hold: a few bytes can expand to any."""
    most = most_bytes()
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            found = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} is not a whole gzip file ({error}): fetch or compress it again.") from error
    if len(found) > most:
        raise too_large(path, most)
    return found


def known_name(path: str | Path) -> str:
    """The name whose ending says how a file is to be read: in small letters (TRAIN.CSV), and without .gz."""
    return str(path).lower().removesuffix(".gz")


def refuse_folder(path: Path) -> None:
    """Raise UserError for a folder where a file is to be read."""
    if os.path.isdir(path):  # also of names that are too long to be one
        raise UserError(f"{path} is a folder where a file should be: name one of the files in it.")


def read_data_text(path: str | Path) -> str:
    """The text of a data file, which must hold something, and no NUL (a sign of UTF-16 or of no text at all)."""
    text = read_plain_text(path)
    if not text.strip():
        raise UserError(f"{path} is empty: fetch it again, or name a file with data.")
    if (position := text.find("\0")) >= 0:
        line = text.count("\n", 0, position) + 1
        raise UserError(f"{path}, line {line}: there is a NUL character: save the file as UTF-8 text.")
    warn_of_two_decodings(text, path)
    return text


def read_lines(path: str | Path) -> list[str]:
    r"""The lines of a data file without their ends (\n or \r\n), so that line 1 is the first of the list.

    Only \n ends a line: other characters that Unicode counts as line ends stand inside real texts.
    """
    lines = [line.removesuffix("\r") for line in read_data_text(path).split("\n")]
    if not lines[-1]:
        lines.pop()  # what follows the last line end
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_TEXT:
            raise UserError(f"{path}, line {number}: {too_long(len(line))}")
        if "\r" in line:
            raise UserError(
                f"{path}, line {number}: a carriage return (\\r) stands inside the line: "
                "end lines with \\n or \\r\\n, and remove it elsewhere."
            )
    return lines


def too_long(characters: int) -> str:
    """The end of a sentence about a text that no row should hold."""
    return (
        f"{characters:,} characters in one text are more than {LONGEST_TEXT:,}: "
        "look for lost line ends or a quote that is never closed, or divide the text."
    )
