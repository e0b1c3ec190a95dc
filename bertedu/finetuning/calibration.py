"""Whether a model that says 80 % is right in 80 of 100 cases. Notebook 10.

Guo et al. 2017, section 2: predictions are put into bins by how sure the model is, and in each bin the mean
probability is held against the share that is right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bertedu.errors import UserError

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions about equally sure: how many, how sure they are in the mean, and the share that is right."""

    count: int
    confidence: float
    accuracy: float


def calibration_bins(confidences: Sequence[float], correct: Sequence[bool], bins: int = BINS) -> list[Bin]:
    """The bins ((m - 1) / bins, m / bins] that hold a prediction, from the least sure to the surest.

    Raises UserError where there are not as many answers as probabilities, or a probability is none.
    """
    if not confidences or len(confidences) != len(correct):
        raise UserError(
            f"there are {len(confidences)} probabilities and {len(correct)} outcomes: give as many of each."
        )
    inside: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for confidence, right in zip(confidences, correct, strict=True):
        if not 0 <= confidence <= 1:
            raise UserError(f"the probability {confidence} is not between 0 and 1.")
        upper = next((m for m in range(1, bins) if confidence <= m / bins), bins)
        inside[upper - 1].append((confidence, right))
    return [
        Bin(len(found), sum(c for c, _ in found) / len(found), sum(right for _, right in found) / len(found))
        for found in inside
        if found
    ]


def expected_calibration_error(confidences: Sequence[float], correct: Sequence[bool], bins: int = BINS) -> float:
    """The mean distance of probability and share of right answers over the bins, each weighed by its predictions."""
    found = calibration_bins(confidences, correct, bins)
    return sum(one.count * abs(one.accuracy - one.confidence) for one in found) / len(confidences)
