"""Exercise 19.5: From halves to neighbors."""

import torch
from torch import Tensor

from bertedu.chapters.ch19_modernbert.exercises.shared import columns, neighbors
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise
from bertedu.family.modernbert.rope import rotate, rotation


@exercise(
    "19.5",
    "From halves to neighbors",
    difficulty=3,
    minutes=15,
    hints=(
        "The rows of the matrix are all queries, then all keys, then all values, and inside of these head after head. "
        "Where must the row of number k of a head go, and where that of number k + d/2?",
        "weight.view(3, heads, 2, d // 2, D) gives each half an axis. Swap two axes for queries and keys, and "
        "leave the values alone.",
    ),
)
def for_neighbors(case: Case) -> None:
    fit = "Count the rows: 3 · num_heads · d, where d is weight.size(0) // (3 * num_heads)."
    case.causes |= {"is invalid for input of size": fit, "must match the size": fit, "out of bounds": fit}
    case.causes["Sizes of tensors must match"] = "Bring each part back to [rows, D] before torch.cat, with reshape."
    case.causes["view size is not compatible"] = "After a transpose use reshape, not view."
    case.causes["leaf Variable"] = "Don't change the weight in place: make a new tensor."
    heads, d, width = 3, 8, 24
    weight = case.randn(3 * width, width)
    result = case.call(weight, heads, tried="a weight [72, 24] with 3 heads")
    if isinstance(result, tuple | list):
        case.fail(f"But it returned {len(result)} things: put the parts together again, with torch.cat.")
    case.same_shape(
        "the new weight", result, weight, "All rows are expected, those of queries, keys and values, in a new order."
    )
    if is_close(result, weight):
        case.fail("But the weight came back as it was.")
    mistakes = {sentence: wrong(weight, heads) for sentence, wrong in WRONG.items()}
    expected = reordered(weight, heads, (True, True, False))
    advice = "Number k of a head should come to row 2k of this head, and number k + d/2 to row 2k + 1."
    case.close("the new weight", result, expected, advice, mistakes=mistakes)
    x = case.randn(1, 7, width)
    case.begin("I compared the attention scores of both ways.", "the scores of both ways")
    angles = torch.arange(7)[:, None] * 10_000.0 ** (-torch.arange(0, d, 2) / d)
    before = scores(x, weight, heads, lambda part: rotate(part, rotation(torch.arange(7), d, 10_000.0)))
    after = scores(x, result.detach().to(x.dtype), heads, lambda part: neighbors(part, angles))
    case.close("a score", after, before, tolerance=1e-3)
    single = case.randn(12, 4)
    result = case.call(single, 1, tried="a single head with d = 4")
    case.close("the new weight", result, reordered(single, 1, (True, True, False)))
    case.refuse_in_place()


def scores(x: Tensor, weight: Tensor, heads: int, turn) -> Tensor:
    """Scores [B, H, T, T] of x with queries and keys rotated in one of the two ways."""
    query, key, _ = ((x @ part.T).unflatten(-1, (heads, -1)).transpose(1, 2) for part in weight.chunk(3))
    return turn(query) @ turn(key).mT


def reordered(weight: Tensor, heads: int, which: tuple[bool, bool, bool], back: bool = False) -> Tensor:
    """The rows of queries, keys and values in the other order, where `which` says so."""
    parts = []
    for part, chosen in zip(weight.chunk(3), which, strict=True):
        halves = part.unflatten(0, (heads, -1, 2) if back else (heads, 2, -1))
        parts.append(halves.transpose(1, 2).reshape(part.shape) if chosen else part)
    return torch.cat(parts)


def by_head_first(weight: Tensor, heads: int) -> Tensor:
    """As if the rows of each head's query, key and value stood together."""
    rows = weight.view(heads, 3, 2, -1, weight.size(1)).clone()
    rows[:, :2] = rows[:, :2].transpose(2, 3).reshape(rows[:, :2].shape)
    return rows.reshape(weight.shape)


def one_matrix(weight: Tensor, heads: int) -> Tensor:
    """As if the rows were those of the queries alone, with d = rows / heads."""
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).reshape(weight.shape)


def overwritten(weight: Tensor, heads: int) -> Tensor:
    """Row after row, written into the same matrix that is read from."""
    new, d = weight.clone(), len(weight) // (3 * heads)
    for start in range(0, 2 * heads * d, d):
        for k in range(d // 2):
            new[start + 2 * k] = new[start + k]
            new[start + 2 * k + 1] = new[start + k + d // 2]
    return new


WRONG = {
    "There are 3 · num_heads blocks of d rows: d is weight.size(0) // (3 * num_heads).": one_matrix,
    "You wrote over rows that were still needed: read from `weight`, and write into a copy.": overwritten,
    "You reordered the values too. They are not rotated, and the output projection expects them in their old order.": (
        lambda weight, heads: reordered(weight, heads, (True, True, True))
    ),
    "You reordered the queries only. The keys are rotated too.": (
        lambda weight, heads: reordered(weight, heads, (True, False, False))
    ),
    "You reordered the keys only. The queries are rotated too.": (
        lambda weight, heads: reordered(weight, heads, (False, True, False))
    ),
    "This is the other direction: it makes halves of neighbors. Here the weights have halves, and the code wants "
    "neighbors.": lambda weight, heads: reordered(weight, heads, (True, True, False), back=True),
    "You cut all heads together into two halves. Each head has halves of its own.": (
        lambda weight, heads: reordered(weight, 1, (True, True, False))
    ),
    "You reordered the columns. A row of the matrix makes one number of a query or key; the columns belong to the "
    "input.": columns,
    "You read the rows as head after head, each with its query, key and value. In ModernBERT all queries come first, "
    "then all keys, then all values.": by_head_first,
}
