"""The facts of the small world: tables of true things, and sentences that say them.

Each file `facts/<kind>.toml` holds a table (one entity a row; a dash stands where a value is missing), maybe a
theme that it shares with other kinds, and for each relation sentence templates: `templates` name the entity,
`about` speak of it as "it". A lot decides which templates training never shows. `{capital}` is the value of a
column, `{a animal}` puts "a" or "an" before it.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path

from bertedu.corpora.world.unseen_templates import draw_unseen
from bertedu.errors import UserError
from bertedu.files import in_package

SLOT = re.compile(r"\{(a )?(\w+)\}")
MISSING = "-"


@dataclass(frozen=True)
class Relation:
    """One column that is told about an entity, with the templates that tell it.

    `lists` names the column by which lists of this relation are grouped; "all" is one list of all rows, "" none.
    """

    kind: str
    name: str
    answer: str
    lists: str
    train: tuple[str, ...]
    about: tuple[str, ...]
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True)
class Category:
    """All that is known about one kind of thing: rows {column: value} without the missing values.

    Kinds of one theme are told of together.
    """

    name: str
    theme: str
    entity: str
    rows: tuple[dict[str, str], ...]
    relations: tuple[Relation, ...]


def lines(block: str) -> tuple[str, ...]:
    """The lines of a block of text, without empty ones."""
    return tuple(line.strip() for line in block.splitlines() if line.strip())


def read_kind(path: Path | Traversable) -> Category:
    """Read one file of facts, all templates in `train`. Raises UserError that names the file and what is wrong."""
    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML ({error}): put that line right.") from error
    entity, theme, table = (
        parsed.pop("entity"),
        parsed.pop("theme", path.name.removesuffix(".toml")),
        lines(parsed.pop("table")),
    )
    columns = [column.strip() for column in table[0].split("|")]
    rows = []
    for line in table[1:]:
        values = [value.strip() for value in line.split("|")]
        if len(values) != len(columns):
            raise UserError(
                f"{path}: the row {line!r} has {len(values)} values, and the table has {len(columns)} columns."
            )
        rows.append({column: value for column, value in zip(columns, values, strict=True) if value != MISSING})
    relations = tuple(
        Relation(
            Path(path.name).stem,
            name,
            section["answer"],
            section.get("lists", ""),
            lines(section["templates"]),
            lines(section["about"]),
        )
        for name, section in parsed.items()
    )
    for relation in relations:
        for template in relation.train + relation.about:
            for slot in slots(template):
                if slot not in columns:
                    raise UserError(
                        f"{path}: the template {template!r} asks for {slot!r}, which is no column of the table."
                    )
    return Category(path.name.removesuffix(".toml"), theme, entity, tuple(rows), relations)


@cache
def kinds() -> tuple[Category, ...]:
    """Every kind of thing in the world, in the order of the alphabet."""
    found = [read_kind(path) for path in in_package(__package__, "facts")]
    unseen = draw_unseen({f"{r.kind} {r.name}": r.train for kind in found for r in kind.relations})
    return tuple(
        replace(kind, relations=tuple(hold_out(r, unseen[f"{r.kind} {r.name}"]) for r in kind.relations))
        for kind in found
    )


def hold_out(relation: Relation, unseen: tuple[str, ...]) -> Relation:
    """The relation with these templates taken out of training."""
    return replace(relation, train=tuple(text for text in relation.train if text not in unseen), unseen=unseen)


def slots(template: str) -> list[str]:
    """The columns that a template asks for, in their order."""
    return [match[2] for match in SLOT.finditer(template)]


def fits(template: str, values: dict[str, str]) -> bool:
    """Whether a row has every value that the template asks for."""
    return all(slot in values for slot in slots(template))


def fill(template: str, values: dict[str, str]) -> str:
    """The sentence that a template makes of a row: values put in, "a" or "an" chosen, first letter capital."""

    def put_in(match: re.Match) -> str:
        value = values[match[2]]
        if not match[1]:
            return value
        return ("an " if value[0].lower() in "aeiou" else "a ") + value

    sentence = SLOT.sub(put_in, template)
    return sentence[0].upper() + sentence[1:]
