"""Errors to read: the rows of predictions.jsonl in which a model was most sure and wrong, in words."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from bertedu.registry import TASKS

Row = Mapping[str, Any]


def most_telling(rows: Sequence[Row], most: int = 20) -> list[Row]:
    """The rows with mistakes, the most telling first: those in which the model was surest, or the furthest off."""
    return sorted((row for row in rows if row["mistake"] > 0), key=lambda row: -row["mistake"])[:most]


def mistakes_html(rows: Sequence[Row], task: str) -> str:
    """The errors of a task as a list for the page."""
    if not rows:
        return "<p>There is no error to read: every row is right.</p>"
    items = []
    for mistake in map(TASKS[task].in_words, rows):
        parts = "".join(
            f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>"
            for name, text in (("right", mistake.right), ("the model", mistake.said))
        )
        items.append(f"<li><p>{escape(mistake.asked)}</p><dl>{parts}</dl></li>")
    return f"<ol class='mistakes'>{''.join(items)}</ol>"
