"""Exercises 19.4 and 19.5: a batch without padding, and a checkpoint whose rotary halves become neighbors."""

import torch
from torch import Tensor

from bertedu.chapters.ch19_modernbert.exercises.chapter_19 import neighbors
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise
from bertedu.family.modernbert.rope import rotate, rotation


@exercise(
    "19.4",
    "Unpad",
    difficulty=3,
    minutes=12,
    hints=(
        "A boolean mask picks entries of a tensor row by row: input_ids[attention_mask.bool()]. Counting the ones of a "
        "row from the left numbers its real tokens.",
        "attention_mask.cumsum(dim=1) - 1 has the positions of the real tokens. For the offsets: the lengths, their "
        "cumsum, and a 0 in front (torch.cat).",
    ),
)
def unpad(case: Case) -> None:
    axis = "torch.cat wants tensors with an axis, for example torch.tensor([0])."
    case.causes |= {"zero-dimensional tensor": axis, "expected Tensor as element": axis}
    case.causes["tensors used as indices"] = "Pick with a boolean mask: attention_mask.bool()."
    ids = torch.tensor([[5, 6, 7, 0, 0], [8, 9, 10, 11, 12], [13, 0, 0, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]])
    compare(case, ids, mask, "3 texts of 3, 5 and 1 tokens")
    left = torch.tensor([[0, 0, 5, 6], [7, 8, 9, 10]]), torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
    compare(case, *left, "2 texts with the padding on the left")
    zero = torch.tensor([[4, 0, 5], [6, 9, 9]]), torch.tensor([[1, 1, 1], [1, 0, 0]])
    compare(case, *zero, "a text that contains the id 0, and another that is padded with 9")
    case.refuse_in_place()


def compare(case: Case, ids: Tensor, mask: Tensor, tried: str) -> None:
    """One batch: ids, positions, offsets."""
    result = case.call(ids, mask, tried=tried)
    parts = case.parts(result, "ids", "positions", "offsets")
    for name, part in zip(("ids", "positions", "offsets"), parts, strict=True):
        if isinstance(part, Tensor) and part.dim() != 1:
            case.fail(
                f"But the tensor of {name} has the shape {list(part.shape)}, and one axis is expected.",
                "Pick the real entries with a boolean mask, attention_mask.bool(). (A mask of the *numbers* 0 and 1 "
                "picks the rows 0 and 1.)",
            )
    if isinstance(parts[2], Tensor) and parts[2].is_floating_point():
        case.almost("The offsets are floats, and a slice wants integers: use torch.tensor([0]), not torch.zeros(1).")
    real, positions, offsets = map(flat, parts)
    compare_ids(case, real, ids, mask)
    compare_positions(case, positions, mask)
    compare_offsets(case, offsets, mask)


def compare_ids(case: Case, real: object, ids: Tensor, mask: Tensor) -> None:
    """The real ids, text after text."""
    lengths = mask.sum(dim=1)
    wanted = ids[mask.bool()].tolist()
    by_id = ids[ids != 0].tolist()
    case.equal(
        "the tensor of ids",
        real,
        wanted,
        "The real ids, text after text, without padding.",
        mistakes=[
            (ids.flatten().tolist(), "The padding is still in it. Pick the real ids."),
            ((ids * mask).flatten().tolist(), "The padding is still in it, as zeros. Pick the real ids."),
            (ids[~mask.bool()].tolist(), "This is the padding: attention_mask is 1 for real tokens."),
            (ids.T[mask.T.bool()].tolist(), "The texts are mixed: go row by row, not column by column."),
            ((mask.cumsum(dim=1) - 1)[mask.bool()].tolist(), "These are the positions. First come the ids."),
            (by_id, "You went by the ids. Whether a token is real is said by attention_mask alone."),
            (
                [id for row, length in zip(ids, lengths.tolist(), strict=True) for id in row[:length].tolist()],
                "You took the first tokens of each row. The padding can be on the left: go by the mask.",
            ),
        ],
    )


def compare_positions(case: Case, positions: object, mask: Tensor) -> None:
    """The position of each real token in its text."""
    columns = mask.nonzero()[:, 1].tolist()
    run_on = list(range(int(mask.sum())))
    counted = (mask.cumsum(dim=1) - 1)[mask.bool()].tolist()
    case.equal(
        "the tensor of positions",
        positions,
        counted,
        "Each text begins at 0 and counts its own real tokens.",
        mistakes=[
            ([p + 1 for p in counted], "You counted from 1. The first real token of a text is at position 0."),
            (run_on, "Your positions run on from text to text. Each text begins at 0 again."),
            ([p + 1 for p in run_on], "Your positions run on from text to text. Each text begins at 0 again."),
            (
                columns,
                "These are the columns of the rectangle. With padding on the left, a text's first real token "
                "should still be at position 0.",
            ),
            (mask.nonzero()[:, 0].tolist(), "These are the numbers of the texts, not positions in them."),
            ((mask.cumsum(dim=1) - 1).flatten().tolist(), "The padding still has positions: pick the real ones."),
        ],
    )


def compare_offsets(case: Case, offsets: object, mask: Tensor) -> None:
    """Where each text begins and ends."""
    lengths = mask.sum(dim=1)
    ends = lengths.cumsum(dim=0).tolist()
    case.equal(
        "the tensor of offsets",
        offsets,
        [0, *ends],
        "Text b is ids[offsets[b] : offsets[b + 1]]: B + 1 numbers.",
        mistakes=[
            (ends, "The 0 in front is missing: text 0 begins at 0, and B texts have B + 1 borders."),
            ([0, *ends[:-1]], "These are the beginnings. The end of the last text is missing: B + 1 numbers."),
            (lengths.tolist(), "These are the lengths. Add them up (cumsum), with a 0 in front."),
            ([0, *lengths.tolist()], "These are the lengths. Add them up with cumsum."),
            (mask.sum(dim=0).cumsum(dim=0).tolist(), "You counted the columns. A length is the sum of a row, dim=1."),
            (
                [mask.size(1) * b for b in range(len(mask) + 1)],
                "These are the borders with padding: use the real lengths.",
            ),
            ([0, *(end - 1 for end in ends)], "Each offset is one too small: an end is exclusive, as in a slice."),
        ],
    )


def flat(part: object) -> object:
    """A tensor as a list, so that the feedback shows its numbers; whole floats as integers."""
    if not isinstance(part, Tensor):
        return part
    whole = part.is_floating_point() and bool((part == part.round()).all())
    return (part.long() if whole else part).tolist()


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


def columns(weight: Tensor, heads: int) -> Tensor:
    """The columns in the other order instead of the rows."""
    return weight.unflatten(1, (heads, 2, -1)).transpose(2, 3).reshape(weight.shape)


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
