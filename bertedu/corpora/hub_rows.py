"""Labelled data of the Hugging Face hub, through the library `datasets`: rows with the names of their labels."""

from collections.abc import Callable
from typing import Any

from bertedu.corpora.hub import load_split
from bertedu.corpora.readers.rows import Row
from bertedu.errors import UserError
from bertedu.extras import needs_extra


def hub_rows(name: str, split: str = "train") -> list[Row]:
    """Every row of a split; labels that the set keeps as numbers of a list (ClassLabel) become their names.

    name is `NAME` or `NAME/CONFIGURATION`, with or without `hub:`, or a folder with data files.
    Rows are counted from 0, as `datasets` does. Raises UserError for a set that cannot be loaded or is empty, and
    for a number that stands for no label, such as the -1 of rows that nobody labelled.
    """
    name = name.removeprefix("hub:")
    dataset = load_split(name, split)
    naming = {column: names for column, feature in dataset.features.items() if (names := label_names(feature))}
    rows: list[Row] = []
    for number, row in enumerate(dataset):
        place = f"hub:{name}, split {split}, row {number}"
        rows.append((place, row | {column: name_of(row[column], place) for column, name_of in naming.items()}))
    if not rows:
        raise UserError(f"hub:{name}, split {split}, has no rows: choose another split.")
    return rows


def label_names(feature: Any) -> Callable[[Any, str], Any] | None:
    """How to turn the numbers of a column into names: of a ClassLabel, or of a list of them; else None."""
    with needs_extra("hub"):
        from datasets import ClassLabel

    if isinstance(feature, ClassLabel):
        return lambda value, place: label_name(feature.names, value, place)
    inner = getattr(feature, "feature", None)
    if isinstance(inner, ClassLabel):
        return lambda values, place: [label_name(inner.names, value, place) for value in values or []]
    return None


def label_name(names: list[str], value: int | None, place: str) -> str:
    """The name that a number stands for."""
    if value is None or not 0 <= value < len(names):
        raise UserError(
            f"{place}: the label {value} stands for none of the {len(names)} labels: choose a split with labels, "
            "or save the set without such rows."
        )
    return names[value]
