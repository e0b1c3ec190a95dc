"""Bytes of UTF-8 to text: the one place where files from outside are decoded, and where other encodings are told."""

import re
import unicodedata
from contextlib import suppress
from pathlib import Path

from bertedu.errors import UserError

# UTF-32's first: the mark of UTF-16 is the beginning of one of them.
MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
WINDOWS = re.compile(rb"[\x80-\x9f]")  # quotes, dashes and € in Windows-1252; characters that nobody sees in Latin-1
# What else bytes at the beginning of a file say that it is, and what to do.
OTHERS = {
    b"\x1f\x8b": ("compressed with gzip", "give its name the ending .gz, or unpack it"),
    b"PK\x03\x04": ("a zip archive, perhaps a spreadsheet", "unpack it, or save the sheet as CSV"),
    b"PAR1": ("a Parquet file", "save it as CSV or JSON lines"),
    b"%PDF-": ("a PDF", "save its text as UTF-8"),
    b"\x89HDF": ("an HDF5 file", "save what is needed of it as text"),
    b"version https://git-lfs.github.com/": ("a pointer of Git LFS", "fetch the file itself with `git lfs pull`"),
}


def decode(data: bytes, path: str | Path) -> str:
    """The text in the bytes of a file, a byte-order mark removed. Raises UserError for any other encoding."""
    for marks, encoding in MARKS.items():
        if data.startswith(marks):
            code = encoding.lower()
            raise UserError(f"{path} is {encoding}: save it as UTF-8, for example with `iconv -f {code} -t utf-8`.")
    for beginning, (kind, remedy) in OTHERS.items():
        if data.startswith(beginning):
            raise UserError(f"{path} is {kind}: {remedy}.")
    try:
        return data.decode("utf-8-sig").lstrip("\ufeff")  # a file that was put together has several
    except UnicodeDecodeError as error:
        raise UserError(f"{path}, {not_utf_8(data, error.start)}") from error


def not_utf_8(data: bytes, position: int) -> str:
    """The end of a sentence about a byte that is not UTF-8: in a file of another encoding, or of two."""
    number = data.count(b"\n", 0, position) + 1
    lines = data.split(b"\n")
    name, code = ("Windows-1252", "cp1252") if WINDOWS.search(data) else ("Latin-1", "latin1")
    read = lines[number - 1].decode(code, "replace").strip()
    place = f"line {number}: byte 0x{data[position]:02x} is not UTF-8"
    for other, line in enumerate(lines, start=1):
        with suppress(UnicodeDecodeError):
            if not line.isascii() and line.decode():
                return (
                    f"{place} and line {other} is, so that two encodings are mixed: write this line in UTF-8 "
                    f"(as {name} it is {read[:40]!r}) and look at the others."
                )
    return (
        f"{place} (as {name} the line is {read[:40]!r}): convert the file first, for example with "
        f"`iconv -f {code} -t utf-8`."
    )


def without_unseen(text: str) -> str:
    """A text without what nobody sees at its ends: white space, control characters, and marks such as zero-width
    spaces.
    """
    begin, end = 0, len(text)
    while begin < end and is_unseen(text[begin]):
        begin += 1
    while begin < end and is_unseen(text[end - 1]):
        end -= 1
    return text[begin:end]


def is_unseen(character: str) -> bool:
    """Whether nobody sees a character by itself."""
    return character.isspace() or unicodedata.category(character) in ("Cc", "Cf")
