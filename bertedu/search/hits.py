"""What every search gives: for each question the numbers of some passages and their scores, best first.

Shapes: Q questions, P passages.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from bertedu.errors import UserError

Hits = list[tuple[int, float]]


class Search(Protocol):
    """Something that finds passages of its collection."""

    def search(self, questions: Sequence[str], k: int = 10) -> list[Hits]:
        """At most k hits for each question, best first."""


def best_hits(scores: np.ndarray, k: int) -> list[Hits]:
    """The k highest scores of each row of [Q, P], best first; of equal scores the passage that stands first."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return [[(int(number), float(row[number])) for number in best] for row, best in zip(scores, order, strict=True)]


def check_search(passages: Sequence[str]) -> None:
    """Raise UserError where there is nothing to find."""
    if not passages:
        raise UserError("there is no passage to search in: give at least one.")


def check_k(k: int) -> None:
    """Raise UserError for no hits at all."""
    if k < 1:
        raise UserError(f"k is {k}: ask for 1 hit or more.")
