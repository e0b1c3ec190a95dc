"""Exercise 19.4: Unpad."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


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
