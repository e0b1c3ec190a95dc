"""The drill of InfoNCE: a contrastive loss with a temperature and negatives of each query's own."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.course.case import Case
from bertedu.course.explaining import compare, one_number
from bertedu.interview.drills.drill import Drill

TASK = """
Write `info_nce(query, positive, negatives, temperature)`: the contrastive loss of a sentence encoder with mined
negatives.

    query         [B, D]      not normalized
    positive      [B, D]      row b belongs to row b of query
    negatives     [B, K, D]   negatives[b] are the K negatives of query b, and of no other
    temperature   a float

The similarity of two vectors is their cosine, divided by the temperature. The loss of a query is the negative
log-probability of its positive, in a softmax over the positive and its K negatives. Return the mean over the batch, a
scalar tensor to train with. Temperatures go down to 0.01, in float32.

Allowed: all of torch.
"""

STUB = """
import torch


def info_nce(query, positive, negatives, temperature):
    raise NotImplementedError
"""

SOLUTION = """
import torch
from torch.nn.functional import cross_entropy, normalize


def info_nce(query, positive, negatives, temperature):
    query, positive, negatives = (normalize(x, dim=-1) for x in (query, positive, negatives))
    to_positive = (query * positive).sum(dim=-1, keepdim=True)  # [B, 1]
    to_negatives = torch.einsum("bd,bkd->bk", query, negatives)  # [B, K]
    logits = torch.cat([to_positive, to_negatives], dim=1) / temperature
    labels = torch.zeros(len(query), dtype=torch.long)  # the positive is column 0
    return cross_entropy(logits, labels)
"""


def cosines(query: Tensor, positive: Tensor, negatives: Tensor) -> Tensor:
    """[B, 1 + K], the positive first."""
    query, positive, negatives = (normalize(x, dim=-1) for x in (query, positive, negatives))
    return torch.cat([(query * positive).sum(-1, keepdim=True), (negatives @ query[:, :, None]).squeeze(-1)], dim=1)


def dots(query: Tensor, positive: Tensor, negatives: Tensor, which: str = "") -> Tensor:
    """The same without normalization, or with that of one side ("query" or "others")."""
    query = normalize(query, dim=-1) if which == "query" else query
    if which == "others":
        positive, negatives = normalize(positive, dim=-1), normalize(negatives, dim=-1)
    return torch.cat([(query * positive).sum(-1, keepdim=True), (negatives @ query[:, :, None]).squeeze(-1)], dim=1)


def of_logits(change: Callable[[Tensor, float], Tensor], similarity: Callable[..., Tensor] = cosines) -> Callable:
    """A loss that makes something else of the similarities [B, 1 + K]."""
    return lambda query, positive, negatives, temperature: float(
        change(similarity(query, positive, negatives), temperature)
    )


def picked(logits: Tensor) -> Tensor:
    """Cross-entropy with the positive in column 0."""
    return -logits.log_softmax(dim=1)[:, 0].mean()


def shared(query: Tensor, positive: Tensor, negatives: Tensor, temperature: float) -> float:
    """All negatives of the batch for each query."""
    query, positive, negatives = (normalize(x, dim=-1) for x in (query, positive, negatives))
    logits = torch.cat([(query * positive).sum(-1, keepdim=True), query @ negatives.flatten(0, 1).T], dim=1)
    return float(picked(logits / temperature))


def in_batch(query: Tensor, positive: Tensor, negatives: Tensor, temperature: float) -> float:
    """The other positives of the batch as negatives."""
    scores = normalize(query, dim=-1) @ normalize(positive, dim=-1).T / temperature
    return float(-scores.log_softmax(dim=1).diagonal().mean())


def over_the_batch(logits: Tensor) -> Tensor:
    """Softmax over the queries."""
    return -logits.log_softmax(dim=0)[:, 0].mean()


RIGHT = of_logits(lambda s, t: picked(s / t))
MISTAKES: dict[str, Callable] = {
    "Those are dot products: long vectors win. Normalize query, positive and negatives, so that they are cosines.": (
        of_logits(lambda s, t: picked(s / t), dots)
    ),
    "Only the query is normalized. The positive and the negatives need length 1, too.": of_logits(
        lambda s, t: picked(s / t), lambda q, p, n: dots(q, p, n, "query")
    ),
    "The query is not normalized. All vectors need length 1.": of_logits(
        lambda s, t: picked(s / t), lambda q, p, n: dots(q, p, n, "others")
    ),
    "The temperature is missing: divide the cosines by it.": of_logits(lambda s, t: picked(s)),
    "You multiply by the temperature. Divide: a small temperature makes the softmax sharper.": of_logits(
        lambda s, t: picked(s * t)
    ),
    "The positive is missing in the denominator: it holds the positive and the negatives.": of_logits(
        lambda s, t: ((s[:, 1:] / t).logsumexp(1) - s[:, 0] / t).mean()
    ),
    "cross_entropy takes logits. You gave it probabilities, so softmax runs twice.": of_logits(
        lambda s, t: picked((s / t).softmax(1))
    ),
    "That is the mean probability of the positive. Take the negative logarithm first, then the mean.": of_logits(
        lambda s, t: (s / t).softmax(1)[:, 0].mean()
    ),
    "You take the logarithm of the mean probability. Take the logarithm of each query first, then the mean.": (
        of_logits(lambda s, t: -(s / t).softmax(1)[:, 0].mean().log())
    ),
    "The sign is wrong: the loss is the NEGATIVE log-probability of the positive.": of_logits(
        lambda s, t: -picked(s / t)
    ),
    "That is the sum over the batch. Take the mean.": of_logits(lambda s, t: len(s) * picked(s / t)),
    "The softmax runs over the batch. It runs over the positive and the negatives of one query: the other axis.": (
        of_logits(lambda s, t: over_the_batch(s / t))
    ),
    "Your label points at the last column. Which column holds the positive?": of_logits(
        lambda s, t: -(s / t).log_softmax(1)[:, -1].mean()
    ),
    "Your labels are 0, 1, 2, …, as with in-batch negatives. Here the positive is in the same column for each query.": (
        of_logits(lambda s, t: -(s / t).log_softmax(1)[range(len(s)), [i % s.shape[1] for i in range(len(s))]].mean())
    ),
    "Each query is compared with the negatives of all queries. It has K negatives of its own.": shared,
    "You use the positives of the other queries as negatives. Here each query has negatives of its own.": in_batch,
    "You average over all candidates. Only the log-probability of the positive counts.": of_logits(
        lambda s, t: -(s / t).log_softmax(1).mean()
    ),
    "You averaged the exponentials of the negatives. The denominator is a sum.": of_logits(
        lambda s, t: ((s[:, 0] / t).exp().add((s[:, 1:] / t).exp().mean(1)).log() - s[:, 0] / t).mean()
    ),
    "You summed the logarithms of the two parts. The logarithm is that of the whole denominator.": of_logits(
        lambda s, t: ((s[:, 1:] / t).logsumexp(1)).mean()
    ),
    "That is the loss on binary labels, one sigmoid for each pair. InfoNCE is one softmax over the candidates.": (
        of_logits(
            lambda s, t: torch.nn.functional.binary_cross_entropy_with_logits(
                s / t, torch.eye(s.shape[1])[0].expand_as(s)
            )
        )
    ),
}


def loss(case: Case, got: Any, *_: Any) -> float:
    """The loss as a number."""
    return one_number(case, "the loss", got)


def examine(case: Case) -> None:
    """Vectors of different lengths, other sizes, a low temperature, and the gradient."""
    case.causes |= {
        "must match the size": "query is [B, D] and negatives [B, K, D]: give query an axis for K, query[:, None], or "
        "use einsum('bd,bkd->bk', …).",
        "cannot be multiplied": "query is [B, D] and negatives [B, K, D]: einsum('bd,bkd->bk', …) says what meets.",
        "Expected size for first two dimensions": "query is [B, D] and negatives [B, K, D]: give query a third axis "
        "for a batched product, query[:, :, None].",
        "same number of dimensions": "To put the cosines side by side, those of the positive need the shape [B, 1].",
    }
    tries = []
    for batch, count, size, temperature in ((3, 4, 6, 0.5), (4, 2, 5, 0.1), (1, 3, 4, 2.0), (5, 5, 3, 0.2)):
        query = case.randn(batch, size) * torch.linspace(0.5, 3, batch)[:, None]
        positive = query + 1.5 * case.randn(batch, size)
        negatives = case.randn(batch, count, size) * torch.linspace(0.3, 4, count)[:, None]
        tried = f"B = {batch}, K = {count}, D = {size} and temperature {temperature}"
        tries.append((tried, query, positive, negatives, temperature))
    advice = "Compute one query by hand: its 1 + K cosines, divided by the temperature, softmax, the logarithm of one."
    compare(case, tries, RIGHT, MISTAKES, advice, names=("the loss",), read=loss)
    _, query, positive, negatives, _ = tries[0]
    examine_low(case, query, negatives)
    given = {"query": query, "positive": positive, "negatives": negatives}
    case.gradient_flows(*given.values(), names=tuple(given), tried="3 queries", temperature=0.5)
    case.close_with("Say why: the lower the temperature, the more the hardest negatives dominate the gradient.")


def examine_low(case: Case, query: Tensor, negatives: Tensor) -> None:
    """A temperature at which exp overflows in float32."""
    got = case.call(query, 2 * query, negatives, 0.01, tried="positives that equal the queries, with temperature 0.01")
    number = one_number(case, "the loss", got)
    case.expect(
        abs(number) < float("inf"),
        f"But the loss is {number}: e to the power of 1 / 0.01 = 100 does not fit into float32.",
        "Use log_softmax, logsumexp or cross_entropy: they subtract the maximum first.",
    )
    case.expect(
        abs(number - RIGHT(query, 2 * query, negatives, 0.01)) < 1e-3,
        f"But the loss is {number:.3g}, and should be {RIGHT(query, 2 * query, negatives, 0.01):.3g}.",
        "It was right at higher temperatures. Is a number cut off, rounded, or added on the way?",
    )


DRILL = Drill(
    name="info-nce",
    title="InfoNCE with a temperature",
    minutes=8,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="13",
    section="Contrastive learning",
    hints=(
        "It is a classification with 1 + K classes for each query. What are the logits, and what is the label?",
        "Normalize all three. Put the cosines of the positive, [B, 1], and of the negatives, [B, K], side by side, "
        "divide by the temperature, and take cross_entropy with label 0.",
    ),
    examine=examine,
)
