"""How good a ranking is: recall@k and the mean reciprocal rank.

Manning, Raghavan & Schütze 2008, chapter 8; MRR@10 as in MS MARCO (Bajaj et al. 2016).
"""

from collections.abc import Sequence, Set

from bertedu.errors import UserError
from bertedu.search.hits import Hits


def recall_at(found: Sequence[Hits], right: Sequence[Set[int]], k: int) -> float:
    """The share of the right passages that are among the first k hits, averaged over questions.

    found: the hits of each question, best first; right: the numbers of its right passages. With one right passage a
    question it is the share of questions that are answered within k hits. Raises UserError as `check` does.
    """
    check(found, right, k)
    shares = [len({number for number, _ in hits[:k]} & one) / len(one) for hits, one in zip(found, right, strict=True)]
    return sum(shares) / len(shares)


def mrr_at(found: Sequence[Hits], right: Sequence[Set[int]], k: int) -> float:
    """The mean reciprocal rank: 1 / rank of the first right passage among the first k hits, 0 where there is none.

    Arguments and errors are those of `recall_at`.
    """
    check(found, right, k)
    return sum(reciprocal_rank(hits[:k], one) for hits, one in zip(found, right, strict=True)) / len(found)


def reciprocal_rank(hits: Hits, right: Set[int]) -> float:
    """1 / rank of the first right passage, the first hit having rank 1; 0 where none is right."""
    return next((1 / rank for rank, (number, _) in enumerate(hits, start=1) if number in right), 0.0)


def check(found: Sequence[Hits], right: Sequence[Set[int]], k: int) -> None:
    """Raise UserError where there is no question, a question without a right passage, or k is below 1."""
    if k < 1:
        raise UserError(f"k is {k}: look at 1 hit or more.")
    if not found or len(found) != len(right):
        raise UserError(f"there are hits for {len(found)} questions and right passages for {len(right)}: give both.")
    if not all(right):
        raise UserError("there is a question without a right passage: no ranking can be right for it; leave it out.")
