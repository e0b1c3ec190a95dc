"""Comparing members of the family: what is told from noise, the bits of a character, and which points are beaten.

Scores are the figures of a member by seed.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

Fit = Callable[[float, int], tuple[float, float]]  # of a learning rate and a seed: validation and test score
ALPHA = 0.05  # a difference whose p is smaller is told from noise
SPECIAL = ("[CLS]", "[SEP]", "<s>", "</s>", "<sep>", "<cls>")  # tokens that are no part of a text


def welch_test(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float, float]:
    """The difference of two members' means (ours minus theirs), its standard error, and p: how often members that
    are equally good would differ at least as much, up or down, if their scores are normal.

    Each member has a variance of its own (Welch 1947). A member with one seed shows none: the error is then infinite,
    and p is 1.
    """
    difference = statistics.mean(ours) - statistics.mean(theirs)
    if len(ours) < 2 or len(theirs) < 2:
        return difference, math.inf, 1.0
    from scipy.stats import t

    parts = [statistics.variance(scores) / len(scores) for scores in (ours, theirs)]
    error = math.sqrt(sum(parts))
    if not error:  # no seed has changed a score
        return difference, error, 0.0 if difference else 1.0
    spent = sum(part**2 / (len(scores) - 1) for part, scores in zip(parts, (ours, theirs), strict=True))
    return difference, error, float(2 * t.sf(abs(difference) / error, sum(parts) ** 2 / spent))


def searched(fit: Fit, rates: Sequence[float], search: Sequence[int]) -> float:
    """The learning rate with the highest mean validation score over the seeds of the search."""
    return max(rates, key=lambda rate: statistics.mean(fit(rate, seed)[0] for seed in search))


def fair_comparison(
    baseline: Fit, candidate: Fit, rates: Sequence[float], search: Sequence[int], seeds: Sequence[int]
) -> tuple[float, float, float]:
    """What welch_test says of two sides that are treated alike: the same learning rates are tried for both, validation
    scores choose, and other seeds are scored on the test rows.
    """

    def scores(fit: Fit) -> list[float]:
        rate = searched(fit, rates, search)
        return [fit(rate, seed)[1] for seed in seeds]

    return welch_test(scores(candidate), scores(baseline))


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
