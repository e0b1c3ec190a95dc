"""Tables of values with commas (CSV) or TABs (TSV) between them, quoted or not, with a header or without."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bertedu.corpora.readers.opening import LONGEST_TEXT, known_name, read_data_text
from bertedu.corpora.readers.rows import Row
from bertedu.corpora.readers.values import counted
from bertedu.errors import UserError, shown
from bertedu.utf8 import without_unseen

QUOTED = re.compile(r'"(?:[^"]|"")*"')
LATE_QUOTES = re.compile(r' +"[^"]*" *')
DELIMITERS = {".csv": ",", ".tsv": "\t"}
OTHERS = ";\t,|"  # what stands between values where a comma is the decimal point, or a name says the wrong thing
SAID = re.compile(r'"?sep=(.)"?\r?\n')  # how Excel is told what stands between values, in a line before the header
NUMBER = re.compile(r"[0-9]+")
RULE = re.compile(r":?-{3,}:?")  # below the header of a table in Markdown


def read_table(
    path: str | Path, header: Sequence[str] | None = None, delimiter: str | None = None, quoting: bool = True
) -> list[Row]:
    """Every row of a table below its header line; all values are texts, exactly as in the file.

    header names the columns of a file that has no header line. delimiter is what stands between values; unless given
    it is a comma in .csv and a TAB in .tsv, or another one that a line sep=; or the header tells (see `delimiter_in`).
    Where a space follows each delimiter of the header, such spaces are passed over.
    A column without a name is passed over where it counts the rows, or is empty (see `refuse_nameless`).
    quoting says whether double quotes around a value are marks, so that it may hold delimiters and line breaks
    (RFC 4180, for TAB as well), or belong to the text. They belong to it also with TABs, where a value begins with one
    that is no mark ("Yes" he said) and each line has as many values.
    Raises UserError for quotes that are not balanced and for a row of another length than the header.
    """
    path = Path(path)
    usual = next((mark for ending, mark in DELIMITERS.items() if known_name(path).endswith(ending)), None)
    if len(delimiter or usual or "") != 1:
        raise UserError(
            f"{path}: the delimiter is {delimiter!r}: save the table as .csv (commas) or .tsv (TABs), or in Python "
            "give one character as delimiter=…."
        )
    text = read_data_text(path).rstrip("\r\n")
    first = 1
    if delimiter is None:
        delimiter, first, text = delimiter_in(text, str(usual), header is None)
    numbered = records(path, text, first, delimiter, quoting, header is None and has_spaces(text, delimiter))
    if header is None and numbered:
        (_, header), *numbered = numbered
    columns = [without_unseen(name) for name in header or ()]
    names = [name for name in columns if name]
    if len(set(names)) < len(names):
        raise UserError(f"{path}: the columns {shown(columns)} need a name each, all different: mend the header.")
    if len(names) < 2:
        raise UserError(
            f"{path}: with the delimiter {delimiter!r} the columns are {shown(columns)}: save it as .csv with commas "
            "or .tsv with TABs and a header of two columns or more, or in Python give delimiter=… or header=…."
        )
    rows: list[Row] = []
    for line, values in numbered:
        if values == columns:
            raise UserError(
                f"{path}, line {line} is the header itself: remove the line, or in Python leave out header=…."
            )
        if not values:
            raise UserError(f"{path}, line {line} is empty: write a row there, or remove the line.")
        if any(values) and all(RULE.fullmatch(value.strip()) for value in values if value):
            raise UserError(f"{path}, line {line} is a rule of a table of Markdown: save the table as CSV.")
        if len(values) != len(columns):
            raise UserError(
                f"{path}, line {line}: {counted(len(values), 'column')} where the header has {len(columns)} "
                f"({shown(values)}): look for a missing or extra delimiter, or a quote out of place."
            )
        refuse_nameless(columns, values, f"{path}, line {line}")
        row = {name: value for name, value in zip(columns, values, strict=True) if name}
        rows.append((f"{path}, line {line}", row))
    if not rows:
        raise UserError(f"{path} has a header and no row: fetch it again, or name a file with data.")
    return rows


def delimiter_in(text: str, usual: str, has_header: bool) -> tuple[str, int, str]:
    """What stands between the values of a table, the number of its first line, and its text from there on.

    A line sep=; says so. Else it is the usual one, unless the header has none of it and exactly one of the others.
    """
    if said := SAID.match(text + "\n"):
        return said[1], 2, text[said.end() :]
    line = text.partition("\n")[0]
    found = [other for other in OTHERS if other in line]
    return (found[0] if has_header and len(found) == 1 else usual), 1, text


def refuse_nameless(columns: Sequence[str], values: Sequence[str], place: str) -> None:
    """Raise UserError where something stands in a column without a name. Two such columns say nothing, and are passed
    over: the first where it has numbers, with which `pandas` counts the rows, and any that is empty, as spreadsheets
    write them.
    """
    for at, (name, value) in enumerate(zip(columns, values, strict=True)):
        if not name and value.strip() and not (at == 0 and NUMBER.fullmatch(value.strip())):
            raise UserError(
                f"{place}: {shown(value)} stands in a column without a name: name the column, or put a text that holds "
                "a delimiter in quotes."
            )


def has_spaces(text: str, delimiter: str) -> bool:
    """Whether a space follows each delimiter of the header, as it then does in the rows, where quotes may follow it."""
    header = text.partition("\n")[0]
    return 0 < header.count(delimiter) == header.count(f"{delimiter} ")


def records(
    path: Path, text: str, line: int, delimiter: str, quoting: bool, spaced: bool = False
) -> list[tuple[int, list[str]]]:
    """The lines of a table as lists of values, each with the number of the line on which it begins; the text begins
    on the given one. spaced: spaces behind delimiters are passed over."""
    before = line - 1
    quoting = quoting and not (delimiter == "\t" and quotes_are_text(text))
    lines = io.StringIO(text, newline="")  # line breaks inside quotes stay as they are
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        skipinitialspace=spaced,
        strict=True,
    )
    found: list[tuple[int, list[str]]] = []
    first = line
    try:
        with fields_up_to(LONGEST_TEXT):
            for values in reader:
                if delimiter == "\t" and any("\t" in value and "\n" in value for value in values):
                    raise UserError(
                        f"{path}, line {first}: a quote opens here and closes in line {before + reader.line_num}: "
                        "close it, or where quotes are part of the text double them and put the value in quotes (in "
                        "Python, read it with quoting=False)."
                    )
                if quoting and delimiter != "\t" and (late := next(filter(LATE_QUOTES.fullmatch, values), "")):
                    raise UserError(
                        f"{path}, line {first}: a space before the quotes in {shown(late)} makes them part of it: "
                        "remove the space."
                    )
                found.append((first, values))
                first = before + reader.line_num + 1
    except csv.Error as error:
        raise UserError(f"{path}, line {first}: {what_is_wrong(error)}") from error
    return found


def quotes_are_text(text: str) -> bool:
    """Whether a value begins with a quote that is no mark, in a table with TABs whose lines are its rows if none is."""
    rows = [line.split("\t") for line in text.replace("\r\n", "\n").split("\n")]
    opened = (value for row in rows for value in row if value.startswith('"'))
    if all(map(QUOTED.fullmatch, opened)):
        return False
    return all(len(row) == len(rows[0]) for row in rows)


def what_is_wrong(error: csv.Error) -> str:
    """The library's complaint in our words, with a remedy."""
    if "field limit" in str(error):
        return (
            f"a value is longer than {LONGEST_TEXT:,} characters: "
            "look for lost line ends or a quote that is never closed, or divide the text."
        )
    return (
        f"the quotes of this row are not balanced ({error}): close the quote and double those inside, "
        "or in Python read the file with quoting=False where quotes are part of the text."
    )


@contextmanager
def fields_up_to(characters: int) -> Iterator[None]:
    """Let values have this many characters (the csv module's own limit is 131,072), and put the limit back."""
    before = csv.field_size_limit(characters)
    try:
        yield
    finally:
        csv.field_size_limit(before)
