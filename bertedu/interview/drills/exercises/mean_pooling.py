"""Whiteboard drill: mean pooling with a mask, and cosine similarity."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.course.case import Case
from bertedu.course.explaining import as_tensor, compare
from bertedu.interview.drills.drill import Drill

TASK = """
Write `pool_and_compare(hidden, mask)`: sentence vectors from the output of an encoder, and how similar they are.

    hidden   [B, T, D]   the vectors of the tokens
    mask     [B, T]      whole numbers: 1 for a real token, 0 for padding

Return (pooled, cosines): the mean of the vectors of the real tokens of each text, [B, D], not normalized; and the
cosine of each text with each other, [B, B]. A text without any real token has the vector 0 and the cosine 0 with all
texts, itself included.

Allowed: all of torch.
"""

STUB = """
import torch


def pool_and_compare(hidden, mask):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def pool_and_compare(hidden, mask):
    weights = mask.unsqueeze(-1).to(hidden.dtype)  # [B, T, 1]
    counts = weights.sum(dim=1).clamp(min=1)  # [B, 1]
    pooled = (hidden * weights).sum(dim=1) / counts  # [B, D]
    normalized = pooled / pooled.norm(dim=-1, keepdim=True).clamp(min=1e-9)
    return pooled, normalized @ normalized.T
"""


def mean(hidden: Tensor, mask: Tensor) -> Tensor:
    """The mean of the real tokens; 0 where there are none."""
    weights = mask[:, :, None].float()
    return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)


def cosines(hidden: Tensor, mask: Tensor) -> Tensor:
    """All cosines of the means."""
    vectors = normalize(mean(hidden, mask), dim=-1)
    return vectors @ vectors.T


POOLING_MISTAKES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Padding counts in your mean. Set its vectors to 0, and divide by the number of real tokens.": (
        lambda hidden, mask: hidden.mean(1)
    ),
    "Padding is left out of the sum, but you divide by T. Divide by the number of real tokens of each text.": (
        lambda hidden, mask: (hidden * mask[:, :, None]).mean(1)
    ),
    "That is the sum. Divide by the number of real tokens of each text.": (
        lambda hidden, mask: (hidden * mask[:, :, None]).sum(1)
    ),
    "You divide by the number of real tokens of the whole batch. Each text has its own.": (
        lambda hidden, mask: (hidden * mask[:, :, None]).sum(1) / mask.sum()
    ),
    "Padding counts in your sum, although you divide by the number of real tokens.": (
        lambda hidden, mask: hidden.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
    ),
    "The mask is inverted: that is the mean of the padding.": lambda hidden, mask: mean(hidden, 1 - mask),
    "That is the vector of the first token. The task asks for the mean of all real tokens.": (
        lambda hidden, mask: hidden[:, 0]
    ),
    "That is a maximum over the tokens. The task asks for the mean.": lambda hidden, mask: hidden.masked_fill(
        mask[:, :, None] == 0, -torch.inf
    ).amax(1),
    "The vectors are normalized already. Return the plain means, and normalize for the cosines only.": (
        lambda hidden, mask: normalize(mean(hidden, mask), dim=-1)
    ),
    "You normalized the vectors of the tokens before the mean. A long vector should count more.": (
        lambda hidden, mask: mean(normalize(hidden, dim=-1), mask)
    ),
}


def dots(hidden: Tensor, mask: Tensor) -> Tensor:
    """Dot products."""
    return mean(hidden, mask) @ mean(hidden, mask).T


COSINE_MISTAKES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Those are dot products: long vectors win. Divide each vector by its length first.": dots,
    "Only one side is divided by its length. A cosine divides by both.": (
        lambda hidden, mask: normalize(mean(hidden, mask), dim=-1) @ mean(hidden, mask).T
    ),
    "Only one side is divided by its length. A cosine divides by both lengths.": (
        lambda hidden, mask: mean(hidden, mask) @ normalize(mean(hidden, mask), dim=-1).T
    ),
    "You divide by the squared length. The length is a root.": lambda hidden, mask: (
        dots(hidden, mask) / (sums := (mean(hidden, mask) ** 2).sum(-1)) / sums[:, None]
    ),
    "You normalized the columns. The numbers of one vector lie along the last axis.": (
        lambda hidden, mask: normalize(mean(hidden, mask), dim=0) @ normalize(mean(hidden, mask), dim=0).T
    ),
    "You divided by one norm for the whole matrix. Each vector has a length of its own: norm needs an axis.": (
        lambda hidden, mask: dots(hidden, mask) / mean(hidden, mask).norm() ** 2
    ),
    "Those are distances, 1 minus the cosine. Return the cosines.": lambda hidden, mask: 1 - cosines(hidden, mask),
    "The diagonal is set to 0. The cosine of a text with itself is 1.": (
        lambda hidden, mask: cosines(hidden, mask) * (1 - torch.eye(len(hidden)))
    ),
    "Those went through a softmax. Return the cosines.": lambda hidden, mask: cosines(hidden, mask).softmax(-1),
}


def pooled_of(case: Case, got: Any, hidden: Tensor, _: Tensor) -> Tensor:
    """The first part, with its shape examined."""
    first, second = (as_tensor(case, name, part) for name, part in zip(
        ("pooled", "cosines"), case.parts(got, "pooled", "cosines"), strict=True))  # fmt: skip
    batch, size = hidden.shape[0], hidden.shape[2]
    if list(first.shape) == [batch, batch] and list(second.shape) == [batch, size]:
        case.fail("But the two come in the wrong order: return the vectors first, then the cosines.")
    case.same_shape("pooled", first, [batch, size], "One vector for each text: the mean runs over its tokens.")
    return first


def cosines_of(case: Case, got: Any, hidden: Tensor, _: Tensor) -> Tensor:
    """The second part, with its shape examined."""
    second = as_tensor(case, "cosines", case.parts(got, "pooled", "cosines")[1])
    case.same_shape("cosines", second, [len(hidden)] * 2, "Each text with each text: a matrix product does that.")
    return second


def tries(case: Case) -> list[tuple]:
    """Texts of several lengths; the vectors of padding are large, so that they show."""
    made = []
    for lengths in ([5, 2, 4], [1, 3, 3, 2], [4], [2, 6]):
        hidden = case.randn(len(lengths), max(lengths) + 1, 8) + 0.3
        mask = (torch.arange(max(lengths) + 1) < torch.tensor(lengths)[:, None]).long()
        hidden = hidden * torch.where(mask == 1, 1.0, 5.0)[:, :, None]
        told = "a text" if len(lengths) == 1 else f"{len(lengths)} texts"
        made.append((f"{told} of {', '.join(map(str, lengths))} tokens, with padding", hidden, mask))
    return made


def examine(case: Case) -> None:
    """Texts of several lengths, a text without tokens, and a mask with padding on the left."""
    axis = "hidden is [B, T, D] and the mask [B, T]: give the mask a third axis, mask[:, :, None]."
    case.causes |= {
        "must match the size": axis,
        "cannot be multiplied": "Transpose one side: [B, D] @ [D, B] gives the cosines of all pairs, [B, B].",
        "not broadcastable": axis,
        "could not be broadcast": axis,
    }
    given = tries(case)
    advice = "Take one text, and compute the first number of its mean by hand."
    compare(case, given, mean, POOLING_MISTAKES, advice, names=("pooled",), read=pooled_of)
    advice = "The vectors are right. Compute one cosine by hand: the dot product, divided by both lengths."
    compare(case, given, cosines, COSINE_MISTAKES, advice, names=("cosines",), read=cosines_of)
    hidden, mask = case.randn(3, 4, 5), torch.tensor([[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1]])
    tried = "three texts, of which the second is empty and the third has its padding on the left"
    got = case.call(hidden, mask, tried=tried)
    first, second = pooled_of(case, got, hidden, mask), cosines_of(case, got, hidden, mask)
    for name, part in (("pooled", first), ("cosines", second)):
        if bool(part.isnan().any()):
            case.fail(f"But {name} contains nan: 0 is divided by 0 for the empty text. Clamp what you divide by.")
    case.close("pooled", first, mean(hidden, mask), "Do you count on padding at the end? The mask says where it is.",
               tolerance=1e-4)  # fmt: skip
    case.close("cosines", second, cosines(hidden, mask), "The empty text has the cosine 0 with all.", tolerance=1e-4)
    case.close_with("Say why the mask matters: a text's vector must not depend on what it is batched with.")


DRILL = Drill(
    name="mean-pooling",
    title="Mean pooling and cosines",
    minutes=5,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="13",
    section="How similar are two sentences?",
    hints=(
        "Which vectors may count in the mean, and by which number do you divide? Each text has its own.",
        "Multiply hidden by mask[:, :, None], sum over the tokens, divide by mask.sum(1) clamped to 1 or more. Divide "
        "by the norms, and multiply the matrix with its transpose.",
    ),
    examine=examine,
)
