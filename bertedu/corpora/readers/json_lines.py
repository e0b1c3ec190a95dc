"""JSON lines: one object a line, its keys the columns."""

from pathlib import Path

from bertedu.corpora.readers.opening import read_lines
from bertedu.corpora.readers.rows import Row
from bertedu.errors import UserError, shown
from bertedu.json_values import parse_json


def read_json_lines(path: str | Path) -> list[Row]:
    """Every object of a .jsonl file. Raises UserError with line and column for a line that is none."""
    rows: list[Row] = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            raise UserError(f"{path}, line {number} is empty: write an object there, or remove the line.")
        value = parse_json(line, path, number)
        if not isinstance(value, dict):
            raise UserError(f"{path}, line {number}: {shown(value)} is not an object: write {{…}} with its columns.")
        rows.append((f"{path}, line {number}", value))
    return rows
