"""Bytes of UTF-8 to text: the one place where files from outside are decoded, and where other encodings are told."""

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


def decode(data: bytes, path: str | Path) -> str:
    """The text in the bytes of a file, a byte-order mark removed. Raises UserError for any other encoding."""
    for marks, encoding in MARKS.items():
        if data.startswith(marks):
            code = encoding.lower()
            raise UserError(f"{path} is {encoding}: save it as UTF-8, for example with `iconv -f {code} -t utf-8`.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}, {not_utf_8(data, error.start)}") from error


def not_utf_8(data: bytes, position: int) -> str:
    """The end of a sentence about a byte that is not UTF-8: in a file of another encoding, or of two."""
    number = data.count(b"\n", 0, position) + 1
    lines = data.split(b"\n")
    read_as_latin = lines[number - 1].decode("latin-1").strip()
    place = f"line {number}: byte 0x{data[position]:02x} is not UTF-8"
    for other, line in enumerate(lines, start=1):
        with suppress(UnicodeDecodeError):
            if not line.isascii() and line.decode():
                return (
                    f"{place} and line {other} is, so that two encodings are mixed: write this line in UTF-8 "
                    f"(as Latin-1 it is {read_as_latin[:40]!r}) and look at the others."
                )
    return (
        f"{place} (as Latin-1 the line is {read_as_latin[:40]!r}): convert the file first, for example with "
        "`iconv -f latin1 -t utf-8`."
    )
