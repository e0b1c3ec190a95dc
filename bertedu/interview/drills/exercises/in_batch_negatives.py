"""The drill of in-batch negatives: the symmetric loss of a bi-encoder, with duplicates masked."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.course.case import Case
from bertedu.course.explaining import compare, one_number
from bertedu.interview.drills.drill import Drill

TASK = """
Write `in_batch_loss(queries, passages, passage_ids, temperature)`: the loss of a bi-encoder for search, in which the
passages of the other queries in the batch are the negatives.

    queries       [B, D]   vectors of length 1
    passages      [B, D]   vectors of length 1; passage i answers query i
    passage_ids   [B]      whole numbers
    temperature   a float

Where two queries have the same passage, their ids are equal, and neither copy may be a negative of the other query:
leave these entries out of the softmax, in both directions. (The vectors of two copies differ a little: dropout is on.)

The score is the dot product, divided by the temperature. The loss is symmetric: the mean of two cross-entropies, that
of finding the passage of each query and that of finding the query of each passage. Return a scalar tensor for training.

Allowed: all of torch.
"""

STUB = """
import torch


def in_batch_loss(queries, passages, passage_ids, temperature):
    raise NotImplementedError
"""

SOLUTION = """
import torch
from torch.nn.functional import cross_entropy


def in_batch_loss(queries, passages, passage_ids, temperature):
    scores = queries @ passages.T / temperature  # [B, B]: row query, column passage
    same = passage_ids[:, None] == passage_ids[None, :]
    itself = torch.eye(len(queries), dtype=torch.bool)
    scores = scores.masked_fill(same & ~itself, float("-inf"))
    labels = torch.arange(len(queries))  # query i belongs to passage i
    return (cross_entropy(scores, labels) + cross_entropy(scores.T, labels)) / 2
"""


def rows(scores: Tensor) -> Tensor:
    """Cross-entropy of the rows, with the diagonal as labels: from queries to passages."""
    return -scores.log_softmax(dim=1).diagonal().mean()


def both(scores: Tensor) -> Tensor:
    """The mean of both directions."""
    return (rows(scores) + rows(scores.T)) / 2


def to_mask(ids: Tensor, itself: bool = False) -> Tensor:
    """Where the passage of a column is that of the row, with the diagonal or without it."""
    same = ids[:, None] == ids[None, :]
    return same if itself else same & ~torch.eye(len(ids), dtype=torch.bool)


def made_of(change: Callable[[Tensor, Tensor, float], Tensor]) -> Callable:
    """A loss that makes something else of scores without temperature [B, B], ids and temperature."""
    return lambda queries, passages, ids, temperature: float(change(queries @ passages.T, ids, temperature))


def masked(filled: float = -torch.inf, itself: bool = False, loss: Callable[[Tensor], Tensor] = both) -> Callable:
    """A loss of masked scores: what masked ones get, whether the diagonal is masked too, and what is done then."""
    return made_of(lambda s, ids, t: loss((s / t).masked_fill(to_mask(ids, itself), filled)))


def halves(s: Tensor, ids: Tensor, t: float) -> Tensor:
    """The mask in one direction only."""
    return (rows((s / t).masked_fill(to_mask(ids), -torch.inf)) + rows(s.T / t)) / 2


def other_half(s: Tensor, ids: Tensor, t: float) -> Tensor:
    """The mask in the other direction only."""
    return (rows(s / t) + rows((s.T / t).masked_fill(to_mask(ids), -torch.inf))) / 2


def several_labels(s: Tensor, ids: Tensor, t: float) -> Tensor:
    """Duplicates as further positives, with equal weight."""
    weights = to_mask(ids, itself=True).float()
    weights = weights / weights.sum(1, keepdim=True)
    return -((weights * ((s / t).log_softmax(1) + (s.T / t).log_softmax(1))).sum(1).mean()) / 2


def against_the_distance(s: Tensor) -> Tensor:
    """Every label is 0."""
    return -(s.log_softmax(1)[:, 0].mean() + s.T.log_softmax(1)[:, 0].mean()) / 2


def without_the_positive(scores: Tensor) -> Tensor:
    """The cross-entropy of the rows with only negatives in the denominator."""
    negatives = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -torch.inf)
    return (negatives.logsumexp(dim=1) - scores.diagonal()).mean()


def without_repeated(queries: Tensor, passages: Tensor, ids: Tensor, temperature: float) -> float:
    """Only the first query of each passage."""
    kept = [place for place, one in enumerate(ids.tolist()) if one not in ids.tolist()[:place]]
    return float(both(queries[kept] @ passages[kept].T / temperature))


RIGHT = masked()
MISTAKES: dict[str, Callable] = {
    "Duplicates are not masked: a passage that answers query i must not be its negative in another column.": (
        made_of(lambda s, _, t: both(s / t))
    ),
    "That is only the direction from queries to passages. The other one is a softmax over the queries for each "
    "passage; take the mean of both.": (masked(loss=rows)),
    "That is only the direction from passages to queries. The other one is a softmax over the passages for each "
    "query; take the mean of both.": (masked(loss=lambda s: rows(s.T))),
    "That is the direction from queries to passages, and duplicates are not masked.": made_of(
        lambda s, _, t: rows(s / t)
    ),
    "The two directions are added. Take their mean.": masked(loss=lambda s: 2 * both(s)),
    "That is a sum over the batch. Take the mean.": masked(loss=lambda s: len(s) * both(s)),
    "Masked scores get 0, and e to the 0 is 1: they still count. They need minus infinity.": masked(filled=0.0),
    "You mask only the direction from queries to passages. The same pairs are wrong in the other one, too.": (
        made_of(halves)
    ),
    "You mask only the direction from passages to queries. The same pairs are wrong in the other one, too.": (
        made_of(other_half)
    ),
    "Your duplicates count as further positives. That is a loss, too, but here they are left out: minus infinity.": (
        made_of(several_labels)
    ),
    "The mask is inverted: only duplicates are left in the softmax.": made_of(
        lambda s, ids, t: both((s / t).masked_fill(~to_mask(ids, itself=True), -torch.inf))
    ),
    "You take the second query of a duplicate out of the batch. Keep all B; only single entries are left out.": (
        without_repeated
    ),
    "All your labels are 0. Query i belongs to passage i: the labels are 0, 1, 2, …": masked(loss=against_the_distance),
    "The temperature is missing: divide the scores by it.": made_of(
        lambda s, ids, _: both(s.masked_fill(to_mask(ids), -torch.inf))
    ),
    "You multiply by the temperature. Divide: a small temperature makes the softmax sharper.": made_of(
        lambda s, ids, t: both((s * t).masked_fill(to_mask(ids), -torch.inf))
    ),
    "cross_entropy takes logits. You gave it probabilities, so softmax runs twice.": masked(
        loss=lambda s: (rows(s.softmax(1)) + rows(s.T.softmax(1))) / 2
    ),
    "The sign is wrong: the loss is the NEGATIVE log-probability of the right passage.": masked(
        loss=lambda s: -both(s)
    ),
    "The positive is missing in the denominator: it holds the positive and all negatives that are left.": masked(
        loss=lambda s: (without_the_positive(s) + without_the_positive(s.T)) / 2
    ),
}


def loss(case: Case, got: Any, *_: Any) -> float:
    """The loss as a number; one that is nan has its cause told."""
    number = one_number(case, "the loss", got)
    case.expect(
        number == number,
        "But the loss is nan. 0 times minus infinity is nan: does a one-hot label, a mask of 0 and 1, or a product "
        "meet a masked score?",
        "Use masked_fill (or torch.where), and labels that are numbers of columns.",
    )
    case.expect(
        abs(number) < 1000,
        f"But the loss is {number:.3g}: it takes the logarithm of a probability that is 0.",
        "Do you mask the positive, too? The diagonal has the same id, of course: take it out of the mask.",
    )
    return number


def examine(case: Case) -> None:
    """Batches with and without duplicates, a batch of one, and the gradient."""
    case.causes |= {
        "cannot be multiplied": "Transpose the passages: [B, D] @ [D, B] gives the scores of all pairs, [B, B].",
        "is out of bounds": "Labels are columns of this batch, 0 to B - 1: arange(B). Ids of passages are no columns.",
        "expected scalar type Long": "cross_entropy takes labels as whole numbers: torch.arange(B).",
        "Boolean value of Tensor": "Compare all pairs at once: ids[:, None] == ids[None, :], and `&` for `and`.",
    }
    tries = []
    for ids, size, temperature in (
        ([3, 8, 5], 4, 0.5),
        ([4, 7, 4, 9], 5, 0.5),
        ([1, 2, 1, 1, 2], 6, 0.2),
        ([3, 3], 4, 0.1),
        ([6], 3, 0.5),
    ):
        queries = normalize(case.randn(len(ids), size), dim=-1)
        passages = normalize(queries + 0.5 * case.randn(len(ids), size), dim=-1)
        numbers = torch.tensor(ids)
        first = [ids.index(number) for number in ids]
        tried = f"the passages {ids}, with temperature {temperature}"
        tries.append(
            (
                tried,
                queries,
                normalize(passages[first] + 0.2 * case.randn(len(ids), size), dim=-1),
                numbers,
                temperature,
            )
        )
    advice = "Write down the B × B scores of this batch: which entries are in the softmax of row 0, and of column 0?"
    compare(case, tries, RIGHT, MISTAKES, advice, names=("the loss",), read=loss)
    _, queries, passages, numbers, temperature = tries[0]
    rest: dict[str, Any] = {"passage_ids": numbers, "temperature": temperature}
    case.gradient_flows(queries, passages, names=("queries", "passages"), tried="the first batch again", **rest)
    case.close_with("Say what it costs: one more negative for each text in the batch, and no further forward pass.")


DRILL = Drill(
    name="in-batch-negatives",
    title="In-batch negatives for a bi-encoder",
    minutes=10,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="13",
    section="Contrastive learning",
    hints=(
        "One matrix product gives all B × B scores. Where in this matrix are the right passages, and where are copies "
        "of a right passage?",
        "Mask (ids[:, None] == ids[None, :]) without the diagonal with minus infinity. Then cross_entropy with the "
        "labels arange(B), of the scores and of their transpose.",
    ),
    examine=examine,
)
