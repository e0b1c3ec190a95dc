"""Names that people type: of a topic, a drill, a program with bugs, a design case."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

from bertedu.errors import UserError, shown


def the_one(kind: str, name: Any, names: Collection[str]) -> str:
    """The name, where it is one of those of this kind, as in the_one("drill", name, DRILLS).

    Raises UserError for any other, with the name that is meant, or else with all of them.
    """
    if not isinstance(name, str):
        raise UserError(f"{shown(name)} is no name of a {kind}: write one in quotes, as in {shown(next(iter(names)))}.")
    if name in names:
        return name
    near = get_close_matches(name.lower(), names, n=1)
    meant = f"do you mean {near[0]}?" if near else f"choose one of {', '.join(names)}."
    raise UserError(f"there is no {kind} {shown(name)}: {meant}")
