"""JSON lines: one object a line, its keys the columns."""

from pathlib import Path

from bertedu.corpora.readers.opening import parse_json, read_lines
from bertedu.corpora.readers.rows import Row
from bertedu.corpora.readers.values import shown
from bertedu.errors import UserError


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
