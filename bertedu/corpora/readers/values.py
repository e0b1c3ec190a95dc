"""What a text, a label and a score must be, wherever they come from. `place`: a file and line, or a row of a set."""

import ast
import math
import re
from collections.abc import Collection
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from bertedu.corpora.readers.opening import LONGEST_TEXT, too_long
from bertedu.errors import UserError, shown
from bertedu.utf8 import without_unseen

MOST_LABELS_SHOWN = 8
BEYOND = 0.05  # of the scale: the highest of new scores, measured as finely as one likes, is seldom the highest of all
# How `pandas` and spreadsheets write a cell with nothing in it, or a formula that failed.
MISSING = (
    *("nan", "NaN", "-nan", "-NaN", "NaT", "<NA>", "1.#QNAN", "#NA", "#N/A", "#N/A N/A"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"),
)
BRACKETS = (("[", "]"), ("{", "}"), ("(", ")"))
JOINED = re.compile(r"""(['"])\s+\1""")  # as numpy shows a list: Python reads 'x' 'y' as one text
NUMBER_WITH_POINT = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def counted(number: int, name: str) -> str:
    """How many there are of something: 1 column, 2 columns."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def text_value(value: Any, place: str, name: str) -> str:
    """A text as it is: not blank, not endless, of characters that can be written."""
    if not isinstance(value, str):
        raise UserError(f"{place}: {name} is {shown(value)}, not a text: write a text in quotes.")
    if not without_unseen(value):
        raise UserError(f"{place}: {name} is {shown(value)}, which is empty: write it, or remove the row.")
    if len(value) > LONGEST_TEXT:
        raise UserError(f"{place}, {name}: {too_long(len(value))}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UserError(
            f"{place}: {name} has half a character, {value[error.start]!r}: write the character or remove it."
        ) from error
    return value


def label_value(value: Any, place: str, labels: Collection[str] | None = None, name: str = "label") -> str:
    """A label, without space around it: a text, or a whole number or truth value written out.

    labels, where given, are all that there are; name is what messages call it.
    """
    if isinstance(value, bool | int):
        value = str(value)
    elif not isinstance(value, str):
        raise UserError(
            f"{place}: the {name} is {shown(value)}: give a text or a whole number, or choose the task regression for "
            "scores and multi-label for lists (in Python problem_type=…)."
        )
    label = without_unseen(text_value(value, place, f"the {name}"))
    if "\n" in label or "\t" in label:
        raise UserError(f"{place}: the {name} {shown(label)} has a line break or TAB: is a quote missing.")
    if labels is not None and label not in labels:
        near = get_close_matches(label, labels, n=1)
        known = ", ".join(list(labels)[:MOST_LABELS_SHOWN]) + (", …" if len(labels) > MOST_LABELS_SHOWN else "")
        raise UserError(
            f"{place}: the {name} {shown(label)} is none of the {counted(len(labels), name)} ({known}): "
            f"{f'write {near[0]!r}' if near else 'correct it'}, or add it to those that are learned."
        )
    return label


def refuse_missing(value: Any, place: str, name: str) -> None:
    """Raise UserError for a text that says that there is none."""
    if isinstance(value, str) and value.strip() in MISSING:
        raise UserError(
            f"{place}: {name} is {value.strip()!r}, as an empty cell is written: write what is meant, or remove "
            "the row."
        )


def label_values(value: Any, place: str, labels: Collection[str] | None = None) -> tuple[str, ...]:
    """Many labels or none: a list, the text of one (as `pandas` writes it), or a text with commas between them."""
    names = (listed(value) if value.strip() else []) if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        raise UserError(f"{place}: the labels are {shown(value)}: give a list, or names with commas between them.")
    for one in names:
        if isinstance(one, str) and (marks := set(";|") & set(one)):
            raise UserError(f"{place}: the label {shown(one)} has a {marks.pop()!r}: write commas between labels.")
    found = tuple(class_value(one, place, labels) for one in names)
    if len(set(found)) < len(found):
        raise UserError(f"{place}: the labels {shown(found)} name one twice: remove it.")
    return found


def listed(text: str) -> list[Any] | None:
    """The labels in a text: those of a list (or tuple, or set) in brackets, or else what stands between commas. None
    for square or curly brackets around anything else, such as a list as numpy shows it.
    """
    text = text.strip()
    if (text[:1], text[-1:]) in BRACKETS and not JOINED.search(text):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            found = ast.literal_eval(text)
            if isinstance(found, list | tuple):
                return list(found)
            if isinstance(found, set):
                return sorted(found, key=lambda label: text.find(str(label)))
    return None if (text[:1], text[-1:]) in BRACKETS[:2] else list(text.split(","))


def class_value(value: Any, place: str, labels: Collection[str] | None = None) -> str:
    """A label of a table or of JSON, where a number with a point is a score in the wrong column."""
    refuse_missing(value, place, "the label")
    label = label_value(value, place, labels)
    if (label[:1], label[-1:]) == BRACKETS[0] and listed(label) is not None:
        raise UserError(
            f"{place}: the label is {shown(label)}, a list: write one name, or choose the task multi-label (in Python "
            "problem_type=…)."
        )
    if NUMBER_WITH_POINT.fullmatch(label):
        raise UserError(
            f"{place}: the label is {label!r}, a number with a point: write names or whole numbers, or choose the task "
            "regression (in Python problem_type=…) for scores."
        )
    return label


def score_value(value: Any, place: str, scale: tuple[float, float] | None = None) -> float:
    """A finite number, from a number or the text of one; scale, where given, are the lowest and the highest that were
    seen, and a score far beyond them is of another scale."""
    problem = f"{place}: the score is {shown(value)}, not a finite number: write one, with a point (3.5)."
    if isinstance(value, bool) or not isinstance(value, int | float | str) or "_" in str(value):
        raise UserError(problem)
    try:
        score = float(value)
    except (ValueError, OverflowError) as error:
        raise UserError(problem) from error
    if not math.isfinite(score):
        raise UserError(problem)
    if scale is not None:
        low, high = scale
        if not low - BEYOND * (high - low) <= score <= high + BEYOND * (high - low):
            raise UserError(
                f"{place}: the score is {shown(value)}, and scores run from {low:g} to {high:g}: correct it, or add "
                "such scores to those that are learned."
            )
    return score
