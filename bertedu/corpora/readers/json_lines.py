"""JSON lines: one object a line, its keys the columns; or a file that is one list of such objects."""

from pathlib import Path
from typing import Any

from bertedu.corpora.readers.opening import read_data_text, read_lines
from bertedu.corpora.readers.rows import Row
from bertedu.errors import UserError, shown
from bertedu.json_values import parse_json

REMEDY = (
    'write one object a line ({"text": "…", "label": "…"}), its texts in double quotes and no comma behind the last, '
    "or fetch the file again if it is cut short"
)


def read_json_lines(path: str | Path) -> list[Row]:
    """Every object of a file of JSON lines, or of one list (`[{…}, {…}]`); empty lines at the end are none.

    Raises UserError with line and column for a line that is none, and for a list of nothing.
    """
    text = read_data_text(path)
    if text.lstrip().startswith("["):
        listed = parse_json(text, path, remedy=REMEDY)
        if not listed:
            raise UserError(f"{path} is a list without an entry: fetch it again, or name a file with data.")
        return [object_at(value, f"{path}, entry {number}") for number, value in enumerate(listed, start=1)]
    lines = read_lines(path)
    while not lines[-1].strip():
        lines.pop()
    rows: list[Row] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise UserError(f"{path}, line {number} is empty: write an object there, or remove the line.")
        rows.append(object_at(parse_json(line, path, number, remedy=REMEDY), f"{path}, line {number}"))
    return rows


def object_at(value: Any, place: str) -> Row:
    """A row. Raises UserError for a value that is no object."""
    if not isinstance(value, dict):
        raise UserError(f"{place}: {shown(value)} is not an object: write {{…}} with its columns.")
    return place, value
