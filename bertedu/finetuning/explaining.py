"""What the tasks share when they put predictions into words, row by row, for predictions.jsonl."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bertedu.corpora.readers import LabelledText

SMALLEST = 0.0001  # mistake
MOST_CLASSES = 10  # of each row: with a hundred classes the others fill the file and tell nothing


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
