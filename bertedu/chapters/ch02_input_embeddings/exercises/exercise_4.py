"""Exercise 2.4: Positions for text padded on the left."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "2.4",
    "Positions for text padded on the left",
    difficulty=3,
    minutes=15,
    hints=(
        "How many real tokens are there up to each position? The mask holds ones and zeros, so use a running sum.",
        "attention_mask.cumsum(dim=1) counts 1, 2, 3, …; positions count from 0, and none may be negative.",
    ),
)
def position_ids(case: Case) -> None:
    """The positions of the real tokens, and for padding any row that every table has which is long enough."""
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 1, 1]])
    got = counted(case, mask, "3 texts of 5 tokens, two of them padded on the left")
    mistakes = {
        "The padding is counted too. The first real token of every sequence should have position 0.": torch.arange(5)
        * mask,
        "Your positions count from 1. The first row of the table is row 0, and [CLS] always has it.": mask.cumsum(1)
        * mask,
        "You count along the batch, from text to text. Along which axis do the tokens of one text lie?": (
            (mask.cumsum(0) - 1).clamp(min=0) * mask
        ),
        "Your positions run backwards. The first real token should have 0.": (mask.flip(1).cumsum(1) - 1).flip(1)
        * mask,
    }
    expected = (mask.cumsum(1) - 1).clamp(min=0)
    advice = "Count the real tokens of each text from 0. (Padding is not compared: it is shown as 0 here.)"
    case.close("position_ids", got * mask, expected * mask, advice, mistakes=mistakes)
    right = torch.tensor([[1, 1, 1, 0, 0]])
    got = counted(case, right, "a text padded on the right")
    advice = "Padding on the right must still work: the three tokens should get 0, 1, 2."
    case.close("position_ids", got * right, torch.tensor([[0, 1, 2, 0, 0]]), advice)
    counted(case, torch.zeros(1, 3, dtype=torch.long), "a text that is all padding")
    got = counted(case, torch.ones(1, 1, dtype=torch.long), "a single token")
    case.close("position_ids", got, torch.tensor([[0]]), "A single token has position 0.")


def counted(case: Case, mask: Tensor, tried: str) -> Tensor:
    """What came, with the shape of the mask and integers from 0 to T - 1."""
    got = case.call(mask, tried=tried)
    case.same_shape("position_ids", got, mask, "Every token needs one position, padding included.")
    if got.is_floating_point() or got.dtype == torch.bool:
        case.fail(f"But position_ids has the type {str(got.dtype)[6:]}. Positions are row numbers, so return integers.")
    case.expect(
        got.min() >= 0,
        f"But there is a position {int(got.min())}. The table has no such row: nn.Embedding raises an IndexError.",
        "Padding may get any position from 0 to T - 1, because attention will ignore it, but the row must exist.",
    )
    length = mask.size(1)
    counts_from_one = torch.equal(got, mask.cumsum(1))  # a mistake with a sentence of its own
    case.expect(
        got.max() < length or counts_from_one,
        f"But there is a position {int(got.max())} in a text of {length} tokens.",
        "A table of positions may have as many rows as the longest text has tokens. Only 0 to T - 1 exist for sure.",
    )
    return got
