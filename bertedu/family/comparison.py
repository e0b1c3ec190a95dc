"""Comparing members of the family: what is told from noise, the bits of a character, and which points are beaten.

scores are the figures of each member by seed, in lists that may differ in length.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

Fit = Callable[[float, int], tuple[float, float]]  # of a learning rate and a seed: validation and test score
Scores = Mapping[str, Sequence[float]]
ERRORS = 2.0  # standard errors that a difference must exceed to be told from noise
SPECIAL = ("[CLS]", "[SEP]", "<s>", "</s>", "<sep>", "<cls>")  # tokens that are no part of a text


def pooled_deviation(scores: Scores) -> float:
    """The standard deviation from seed to seed, pooled over all members with two seeds or more.

    It is infinite where no member has two: then nobody knows how large the noise is.
    """
    several = [values for values in scores.values() if len(values) > 1]
    freedom = sum(len(values) - 1 for values in several)
    if not freedom:
        return math.inf
    return math.sqrt(sum((len(values) - 1) * statistics.variance(values) for values in several) / freedom)


def standard_error(scores: Scores, one: str, other: str) -> float:
    """The standard error of the difference of two members' means: s · √(1/n + 1/m), s pooled over all members."""
    return pooled_deviation(scores) * math.sqrt(1 / len(scores[one]) + 1 / len(scores[other]))


def told_apart(scores: Scores, one: str, other: str) -> tuple[float, float, bool]:
    """The difference of two members' means (one minus other), its standard error, and whether the difference, up or
    down, is larger than two standard errors.
    """
    difference = statistics.mean(scores[one]) - statistics.mean(scores[other])
    error = standard_error(scores, one, other)
    return difference, error, abs(difference) > ERRORS * error


def searched(fit: Fit, rates: Sequence[float], search: Sequence[int]) -> float:
    """The learning rate with the highest mean validation score over the seeds of the search."""
    return max(rates, key=lambda rate: statistics.mean(fit(rate, seed)[0] for seed in search))


def fair_comparison(
    baseline: Fit, candidate: Fit, rates: Sequence[float], search: Sequence[int], seeds: Sequence[int]
) -> tuple[float, float, bool]:
    """What told_apart says of two sides that are treated alike: the same learning rates are tried for both, validation
    scores choose, and other seeds are scored on the test rows.
    """
    scores = {}
    for name, fit in (("baseline", baseline), ("candidate", candidate)):
        rate = searched(fit, rates, search)
        scores[name] = [fit(rate, seed)[1] for seed in seeds]
    return told_apart(scores, "candidate", "baseline")


def bits_per_character(texts: Sequence[str], tokens: Sequence[Sequence[str]], nats: Sequence[Sequence[float]]) -> float:
    """The losses of all tokens of all texts, in bits, for each character: comparable between vocabularies.

    tokens and nats have one list for each text, of equal lengths. The losses of special tokens do not count.
    """
    pairs = [pair for one, losses in zip(tokens, nats, strict=True) for pair in zip(one, losses, strict=True)]
    total = sum(loss for token, loss in pairs if token not in SPECIAL)
    return total / math.log(2) / sum(map(len, texts))


def pareto_front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """The names that no other beats, cheapest first. points: (cost, score) of each.

    A point is beaten by another that is no more expensive and no worse, and better in one of the two.
    """

    def beaten(cost: float, score: float) -> bool:
        return any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in points.values())

    return sorted((name for name, point in points.items() if not beaten(*point)), key=lambda name: points[name])
