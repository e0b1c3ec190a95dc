"""What the tasks share when they put predictions into words: row by row for predictions.jsonl, and those for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertedu.corpora.readers import LabelledText
from bertedu.errors import UserError, shown

SMALLEST = 0.0001  # mistake
LONGEST_WORD = 40  # what is longer without a space is of a script that writes none
LONGEST = 360  # characters of a text for people
MOST_CLASSES = 10  # of each row: with a hundred classes the others fill the file and tell nothing


@dataclass(frozen=True)
class Mistake:
    """What was asked, what is right, and what the model said."""

    asked: str
    right: str
    said: str


def rounded(value: Any) -> float:
    """A probability or score with four digits after the point."""
    return round(float(value), 4)


def asked(row: LabelledText) -> dict[str, Any]:
    """The text, and the second one where there is one."""
    return {"text": row.text} if row.pair is None else {"text": row.text, "pair": row.pair}


def likeliest(labels: Sequence[str], shares: np.ndarray) -> dict[str, float]:
    """The classes with the highest probabilities, the highest first."""
    order = np.argsort(-shares, kind="stable")[:MOST_CLASSES]
    return {labels[number]: rounded(shares[number]) for number in order}


def mistake(sure: float, wrong: float) -> float:
    """How sure the model is times how wrong, from 0 to 1: never so little that what is wrong looks right."""
    return max(SMALLEST, rounded(sure * wrong)) if wrong else 0.0


def score_said(right: float, found: float) -> dict[str, Any]:
    """A score beside the right one; the mistake is their distance."""
    return {"label": right, "prediction": rounded(found), "mistake": rounded(abs(found - right))}


def labelled(row: Mapping[str, Any]) -> Mistake:
    """Classes, sets of classes, and scores."""
    said = one_or_more(row["prediction"])
    if "probability" in row:
        said += f" ({row['probability']:.0%})"
    text = row["text"] if "pair" not in row else f"{row['text']} ‖ {row['pair']}"
    return Mistake(shortened(text), one_or_more(row["label"]), said)


def one_or_more(label: Any) -> str:
    """A label, several of them, or a score."""
    if isinstance(label, list):
        return ", ".join(label) or "none"
    return f"{label:.2f}" if isinstance(label, float) else str(label)


def shortened(text: str, middle: int = 0, longest: int = LONGEST) -> str:
    """A part of a long text around the character `middle`, whole words where spaces divide them; with … where something
    is left out."""
    if len(text) <= longest:
        return text
    start = max(0, min(middle - longest // 2, len(text) - longest))
    part = text[start : start + longest]
    if start:
        first, _, rest = part.partition(" ")
        part = f"… {part if len(first) > LONGEST_WORD else rest}"
    if start + longest >= len(text):
        return part
    rest, _, last = part.rpartition(" ")
    return f"{part if len(last) > LONGEST_WORD else rest} …"


def check_numbers(numbers: Sequence[int], count: int, what: str, place: str) -> None:
    """Raise UserError where a row of predictions names things by numbers that it does not hold."""
    if not all(0 <= number < count for number in numbers):
        raise UserError(f"{place}: of {count} {what} the numbers {shown(list(numbers))} are not all there.")
