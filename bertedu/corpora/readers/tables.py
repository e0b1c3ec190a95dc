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

QUOTED = re.compile(r'"(?:[^"]|"")*"')
DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_table(
    path: str | Path, header: Sequence[str] | None = None, delimiter: str | None = None, quoting: bool = True
) -> list[Row]:
    """Every row of a table below its header line; all values are texts, exactly as in the file.

    header names the columns of a file that has no header line. delimiter is what stands between values: a comma
    in .csv and a TAB in .tsv unless given. quoting says whether double quotes around a value are marks, so that
    it may hold delimiters and line breaks (RFC 4180, for TAB as well), or belong to the text. They belong to it also
    with TABs, where a value begins with one that is no mark ("Yes" he said) and each line has as many values.
    Raises UserError for quotes that are not balanced and for a row of another length than the header.
    """
    path = Path(path)
    if delimiter is None:
        delimiter = DELIMITERS.get(Path(known_name(path)).suffix)
    if delimiter is None or len(delimiter) != 1:
        raise UserError(
            f"{path}: the delimiter is {delimiter!r}: save the table as .csv (commas) or .tsv (TABs), or in Python "
            "give one character as delimiter=…."
        )
    numbered = records(path, delimiter, quoting)
    if header is None:
        (_, header), *numbered = numbered
    columns = [name.strip() for name in header]
    if len(set(columns)) < len(columns) or "" in columns:
        raise UserError(f"{path}: the columns {shown(columns)} need a name each, all different: mend the header.")
    if len(columns) < 2:
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
        if len(values) != len(columns):
            raise UserError(
                f"{path}, line {line}: {counted(len(values), 'column')} where the header has {len(columns)} "
                f"({shown(values)}): look for a missing or extra delimiter, or a quote out of place."
            )
        rows.append((f"{path}, line {line}", dict(zip(columns, values, strict=True))))
    if not rows:
        raise UserError(f"{path} has a header and no row: fetch it again, or name a file with data.")
    return rows


def records(path: Path, delimiter: str, quoting: bool) -> list[tuple[int, list[str]]]:
    """The lines of a table as lists of values, each with the number of the line on which it begins."""
    text = read_data_text(path).rstrip("\r\n")
    quoting = quoting and not (delimiter == "\t" and quotes_are_text(text))
    lines = io.StringIO(text, newline="")  # line breaks inside quotes stay as they are
    reader = csv.reader(
        lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE, strict=True
    )
    found: list[tuple[int, list[str]]] = []
    first = 1
    try:
        with fields_up_to(LONGEST_TEXT):
            for values in reader:
                if delimiter == "\t" and any("\t" in value and "\n" in value for value in values):
                    raise UserError(
                        f"{path}, line {first}: a quote opens here and closes in line {reader.line_num}: "
                        "close it, or where quotes are part of the text double them and put the value in quotes (in "
                        "Python, read it with quoting=False)."
                    )
                found.append((first, values))
                first = reader.line_num + 1
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
