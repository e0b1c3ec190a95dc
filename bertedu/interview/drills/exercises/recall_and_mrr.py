"""Whiteboard drill: recall@k and MRR@k of a search."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.explaining import compare, one_number
from bertedu.interview.drills.drill import Drill

TASK = """
Write `recall_and_mrr(scores, relevant, k)`: how good a search is, over Q queries and N passages.

    scores     [Q, N]   floats: the higher, the better the passage fits; no two of a query are equal
    relevant   [Q, N]   bool: True for the passages that answer the query; each query has one or more
    k          an int; it may be larger than N

Return (recall, mrr), two floats. recall@k is the share of a query's relevant passages that are among its k best,
averaged over the queries. The reciprocal rank of a query is 1 / rank of its first relevant passage, where the best
passage has rank 1, and 0 where none of the k best is relevant. MRR@k is its mean over the queries.

Allowed: torch, numpy, loops.
"""

STUB = """
import torch


def recall_and_mrr(scores, relevant, k):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def recall_and_mrr(scores, relevant, k):
    best = scores.argsort(dim=-1, descending=True)[:, :k]
    hits = relevant.gather(1, best).float()  # [Q, k], in the order of the ranks
    recall = hits.sum(dim=1) / relevant.sum(dim=1)
    ranks = torch.arange(1, hits.shape[1] + 1)
    reciprocal = (hits / ranks).amax(dim=1)  # the first hit has the largest
    return recall.mean().item(), reciprocal.mean().item()
"""


def hits_of(scores: Tensor, relevant: Tensor, k: int, descending: bool = True) -> Tensor:
    """Whether the passage of each rank is relevant, [Q, k]."""
    return relevant.gather(1, scores.argsort(dim=1, descending=descending)[:, :k]).double()


def reciprocal(hits: Tensor, begin: int = 1) -> Tensor:
    """The reciprocal rank of each query, [Q]; 0 without a hit."""
    return (hits / torch.arange(begin, begin + hits.shape[1])).amax(1)


def recall(scores: Tensor, relevant: Tensor, k: int) -> float:
    """Recall@k."""
    return float((hits_of(scores, relevant, k).sum(1) / relevant.sum(1)).mean())


def mrr(scores: Tensor, relevant: Tensor, k: int) -> float:
    """MRR@k."""
    return float(reciprocal(hits_of(scores, relevant, k)).mean())


def all_reciprocals(scores: Tensor, relevant: Tensor, k: int) -> float:
    """The mean over all relevant passages among the k best, not only the first of each query."""
    hits = hits_of(scores, relevant, k)
    each = (hits / torch.arange(1, hits.shape[1] + 1)).sum(1) / hits.sum(1).clamp(min=1)
    return float(each.mean())


def inverse_of_the_mean_rank(scores: Tensor, relevant: Tensor, k: int) -> float:
    """1 / mean rank."""
    ranks = hits_of(scores, relevant, scores.shape[1]).argmax(1) + 1.0
    return float(1 / ranks.mean())


def last_hit(scores: Tensor, relevant: Tensor, k: int) -> float:
    """The worst rank of a relevant passage among the k best."""
    hits = hits_of(scores, relevant, k)
    ranks = torch.arange(1, hits.shape[1] + 1) * hits
    return float(torch.where(ranks.amax(1) > 0, 1 / ranks.amax(1), 0.0).mean())


def without_misses(scores: Tensor, relevant: Tensor, k: int) -> float:
    """The mean over the queries with a hit."""
    each = reciprocal(hits_of(scores, relevant, k))
    return float(each.sum() / (each > 0).sum().clamp(min=1))


Measure = Callable[[Tensor, Tensor, int], float]
RECALL_MISTAKES: dict[str, Measure] = {
    "That is the share of queries with a hit. A query with one hit for two relevant passages has a recall of ½.": (
        lambda s, r, k: float((hits_of(s, r, k).sum(1) > 0).double().mean())
    ),
    "That is the precision: you divide by k. Divide by the number of relevant passages.": (
        lambda s, r, k: float((hits_of(s, r, k).sum(1) / k).mean())
    ),
    "That is the precision over the best that there are. Divide by the number of relevant passages.": (
        lambda s, r, k: float(hits_of(s, r, k).mean())
    ),
    "You divide by k where more than k passages are relevant. Recall divides by all of them.": (
        lambda s, r, k: float((hits_of(s, r, k).sum(1) / r.sum(1).clamp(max=k)).mean())
    ),
    "You divide the hits of all queries by their relevant passages. Take the recall of each query, then the mean.": (
        lambda s, r, k: float(hits_of(s, r, k).sum() / r.sum())
    ),
    "You take the k worst passages: the highest score is the best.": (
        lambda s, r, k: float((hits_of(s, r, k, descending=False).sum(1) / r.sum(1)).mean())
    ),
    "You take the first k passages as they stand. Sort them by their scores first.": (
        lambda s, r, k: float((r[:, :k].sum(1) / r.sum(1)).mean())
    ),
    "You take k + 1 passages.": lambda s, r, k: recall(s, r, k + 1),
    "You take k - 1 passages.": lambda s, r, k: recall(s, r, k - 1) if k > 1 else 0.0,
    "That is the number of hits. Divide by the number of relevant passages.": (
        lambda s, r, k: float(hits_of(s, r, k).sum(1).mean())
    ),
    "That is a sum over the queries. Take the mean.": lambda s, r, k: len(s) * recall(s, r, k),
    "That is MRR. Return the recall first.": mrr,
    "You rank the queries for each passage. Rank the passages of each query: the last axis.": (
        lambda s, r, k: float(
            (r.gather(0, s.argsort(0, descending=True)[:k]).double().sum(0) / r.sum(0).clamp(min=1)).mean()
        )
    ),
}
MRR_MISTAKES: dict[str, Measure] = {
    "Your ranks begin with 0. The best passage has rank 1.": lambda s, r, k: float(
        torch.where(hits_of(s, r, k).any(1), 1 / hits_of(s, r, k).argmax(1).double(), 0.0).mean()
    ),
    "Your ranks begin with 2. The best passage has rank 1.": lambda s, r, k: float(
        reciprocal(hits_of(s, r, k), begin=2).mean()
    ),
    "Your ranks have no limit. Where none of the k best is relevant, the reciprocal rank is 0.": (
        lambda s, r, k: mrr(s, r, s.shape[1])
    ),
    "You average over all relevant passages. Only the first one of each query counts.": all_reciprocals,
    "You add the reciprocal ranks of all relevant passages. Only the first one of each query counts.": (
        lambda s, r, k: float((hits_of(s, r, k) / torch.arange(1, min(k, s.shape[1]) + 1)).sum(1).mean())
    ),
    "That is 1 / the mean rank. Take the reciprocal of each query first, then the mean.": inverse_of_the_mean_rank,
    "You take the last relevant passage of each query. The first one counts.": last_hit,
    "You average over the queries with a hit only. The others count as 0.": without_misses,
    "Where a query has no hit you count 1 / (k + 1). It is 0.": lambda s, r, k: float(
        torch.where(hits_of(s, r, k).any(1), reciprocal(hits_of(s, r, k)), 1 / (min(k, s.shape[1]) + 1)).mean()
    ),
    "Where a query has no hit you count 1: argmax of zeros is 0. It is 0.": lambda s, r, k: float(
        (1 / (hits_of(s, r, k).argmax(1) + 1.0)).mean()
    ),
    "That is a sum over the queries. Take the mean.": lambda s, r, k: len(s) * mrr(s, r, k),
    "You rank from the worst passage on: the highest score is the best.": lambda s, r, k: float(
        reciprocal(hits_of(s, r, k, descending=False)).mean()
    ),
    "Your rank is the position in the collection. Sort by the scores first.": lambda s, r, k: float(
        reciprocal(r[:, :k].double()).mean()
    ),
    "That is the mean rank. Take the mean of 1 / rank.": lambda s, r, k: float(
        (hits_of(s, r, k).argmax(1) + 1.0).mean()
    ),
}


def recall_of(case: Case, got: Any, *_: Any) -> float:
    """The first part as a number."""
    return one_number(case, "the recall", case.parts(got, "recall", "mrr")[0])


def mrr_of(case: Case, got: Any, *_: Any) -> float:
    """The second part as a number."""
    return one_number(case, "MRR", case.parts(got, "recall", "mrr")[1])


def tries(case: Case) -> list[tuple]:
    """One query by hand, then random ones; at last a k that is larger than N."""
    scores = torch.tensor([[0.1, 0.9, 0.5, 0.7], [0.8, 0.2, 0.6, 0.4]])
    relevant = torch.tensor([[False, False, True, True], [False, True, False, False]])
    made = [("2 queries and 4 passages, with k = 2", scores, relevant, 2)]
    for queries, passages, k in ((3, 6, 2), (5, 7, 3), (4, 8, 1), (6, 5, 4), (4, 9, 2)):
        relevant = case.randint(0, 3, (queries, passages)) == 0
        relevant[torch.arange(queries), case.randint(0, passages, (queries,))] = True
        tried = f"{queries} queries and {passages} passages, with k = {k}"
        made.append((tried, case.randn(queries, passages), relevant, k))
    return made


def examine(case: Case) -> None:
    """By hand and at random; then a k that is larger than the collection."""
    given = tries(case)
    advice = (
        "Take one query: sort its passages by score, and mark the relevant ones. How many of them are in the first k?"
    )
    compare(case, given, recall, RECALL_MISTAKES, advice, names=("the recall",), read=recall_of)
    advice = (
        "Take one query: sort its passages by score. What is the rank of the first relevant one, and is it k or less?"
    )
    compare(case, given, mrr, MRR_MISTAKES, advice, names=("MRR",), read=mrr_of)
    beyond = "There are only N passages: topk and a loop to k need min(k, N)."
    case.causes |= {"out of range": beyond, "out of bounds": beyond, "must match the size": beyond, "shape": beyond}
    large = [("3 queries and 4 passages, with k = 10", case.randn(3, 4), torch.eye(3, 4).bool(), 10)]
    compare(
        case,
        large,
        recall,
        {},
        "With k of N or more every relevant passage is found.",
        names=("the recall",),
        read=recall_of,
    )
    compare(case, large, mrr, {}, "With k of N or more every query has a hit.", names=("MRR",), read=mrr_of)
    case.close_with("Say which you would report: recall@k for a first stage whose k go on to a reranker, MRR for what "
                    "people see.")  # fmt: skip


DRILL = Drill(
    name="recall-and-mrr",
    title="recall@k and MRR@k",
    minutes=8,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="13",
    section="Semantic search",
    hints=(
        "Both measures read the same thing: whether the passage at each of the first k ranks is relevant, [Q, k].",
        "hits = relevant.gather(1, scores.argsort(dim=-1, descending=True)[:, :k]). Recall divides its sum by "
        "relevant.sum(1). The reciprocal rank is the largest of hits / ranks.",
    ),
    examine=examine,
)
