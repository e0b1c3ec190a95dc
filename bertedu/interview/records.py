"""TOML files as records: exactly the fields of a dataclass, each of its type, and no empty text."""

import tomllib
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from bertedu.errors import UserError, shown
from bertedu.files import read_text
from bertedu.json_values import fits

SAID = {
    int: "a whole number",
    bool: "true or false",
    "reviewed": "a date, such as 2026-11-22",
    "titles": "a title for each topic",
}


def parse_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises UserError for text that is no TOML, with the line where it is known."""
    try:
        return tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, and 100,000 brackets, end it too
        raise UserError(f"{path}: {error}: this is no TOML.") from None


def record(kind: Any, value: Any, where: str, **known: Any) -> Any:
    """A value of a TOML file as a dataclass. Lists become tuples; tables become the dataclass that the field names.

    known are fields whose values do not stand in the file. Raises UserError for a field that is missing, unknown, of
    another type or empty.
    """
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected a table of names and values, not {shown(value)}.")
    types, names = get_type_hints(kind), {field.name for field in fields(kind)} - set(known)
    needed = [field.name for field in fields(kind) if field.default is MISSING and field.name in names]
    if missing := [name for name in needed if name not in value]:
        raise UserError(f"{where}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing.")
    if unknown := sorted(set(value) - names):
        raise UserError(f"{where}: there is no {shown(unknown[0])}: the names are {', '.join(sorted(names))}.")
    return kind(**known, **{name: converted(types[name], name, one, where) for name, one in value.items()})


def converted(kind: Any, name: str, value: Any, where: str) -> Any:
    """The value of one field."""
    part = next((one for one in (kind, *get_args(kind)) if is_dataclass(one)), None)
    if part and get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise UserError(f"{where}: {name} is {shown(value)}: give a list.")
        return tuple(record(part, one, f"{where}, {name} {place}") for place, one in enumerate(value, start=1))
    if part:
        return record(part, value, f"{where}, {name}")
    if not fits(value, kind):
        wanted = "a list of texts" if get_origin(kind) is tuple else SAID.get(name, SAID.get(kind, "a text"))
        raise UserError(f"{where}: {name} is {shown(value)}: give {wanted}.")
    texts = value if isinstance(value, list) else [value]
    if any(isinstance(text, str) and not text.strip() for text in texts):
        raise UserError(f"{where}: {name} is empty: write it, or leave the name out.")
    return tuple(value) if isinstance(value, list) else value.strip() if isinstance(value, str) else value
