"""Opening a file of text: UTF-8, compressed or not, whatever its line ends; refused as a whole or read as a whole."""

import gzip
import zlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from bertedu.errors import UserError
from bertedu.files import most_bytes, read_bytes, too_large

# About two novels. A longer text in one row comes from lost line ends or a quote that was never closed,
# and BERT reads 512 tokens of it.
LONGEST_TEXT = 1_000_000  # characters
# UTF-32's first: the mark of UTF-16 is the beginning of one of them.
MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def read_plain_text(path: str | Path) -> str:
    """The text of a UTF-8 file, compressed with gzip (.gz) or not, a byte-order mark removed.

    Raises UserError for a file that is missing, cut short, too large or in another encoding.
    """
    path = Path(path)
    refuse_folder(path)
    data = read_bytes(path)
    if path.suffix.lower() == ".gz":
        data = unpacked(data, path)
    for marks, encoding in MARKS.items():
        if data.startswith(marks):
            code = encoding.lower()
            raise UserError(f"{path} is {encoding}: save it as UTF-8, for example with `iconv -f {code} -t utf-8`.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}, {not_utf_8(data, error.start)}") from error


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
    if path.is_dir():
        raise UserError(f"{path} is a folder where a file should be: name one of the files in it.")


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


def read_data_text(path: str | Path) -> str:
    """The text of a data file, which must hold something, and no NUL (a sign of UTF-16 or of no text at all)."""
    text = read_plain_text(path)
    if not text.strip():
        raise UserError(f"{path} is empty: fetch it again, or name a file with data.")
    if (position := text.find("\0")) >= 0:
        line = text.count("\n", 0, position) + 1
        raise UserError(f"{path}, line {line}: there is a NUL character: save the file as UTF-8 text.")
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
