"""Exercises 2.4 and 2.5: positions of padded text, and the repaired tables."""

import torch
from torch import Tensor, nn

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

POSITIONS = 512  # rows of BERT's position table


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
    """The positions of the real tokens, and any row of the table for padding."""
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
    """What came, with the shape of the mask and integers that are rows of BERT's position table."""
    got = case.call(mask, tried=tried)
    case.same_shape("position_ids", got, mask, "Every token needs one position, padding included.")
    if got.is_floating_point() or got.dtype == torch.bool:
        case.fail(f"But position_ids has the type {str(got.dtype)[6:]}. Positions are row numbers, so return integers.")
    case.expect(
        got.min() >= 0,
        f"But there is a position {int(got.min())}. The table has no such row: nn.Embedding raises an IndexError.",
        "Padding may get any row from 0 to 511, because attention will ignore it, but the row must exist.",
    )
    case.expect(
        got.max() < POSITIONS,
        f"But there is a position {int(got.max())}, and the rows of BERT's position table are 0 to {POSITIONS - 1}.",
    )
    return got


@exercise(
    "2.5",
    "Repair the tables",
    difficulty=3,
    minutes=10,
    hints=(
        "What does row 0 mean in each of the three tables? Only in one of them is it padding.",
        "Only the token table needs padding_idx. Position 0 and segment 0 are real.",
    ),
)
def tables(case: Case) -> None:
    """Three tables in which exactly one row, that of [PAD], gets no gradient."""
    result = case.call(11, 6, 2, 4, tried="11 tokens, 6 positions, 2 segments and D = 4")
    names, sizes = ("token", "position", "token_type"), (11, 6, 2)
    made = case.parts(result, *names)
    for name, table in zip(names, made, strict=True):
        case.is_a(f"the {name} table", table, nn.Embedding, "an nn.Embedding")
    found = [table.num_embeddings for table in made]
    case.expect(
        found == list(sizes) or sorted(found) != sorted(sizes),
        "But the three tables are in another order. Return them as `token, position, token_type`.",
    )
    for name, table, rows in zip(names, made, sizes, strict=True):
        advice = "An nn.Embedding has one row for each id and hidden_size columns."
        case.same_shape(f"the {name} table", table.weight, [rows, 4], advice)
    used = {
        "position": "Which token has position 0? It is the first one of every sequence.",
        "token_type": "Which tokens have segment 0? All those of a text that comes alone.",
    }
    stuck = {}
    for name, table in zip(names, made, strict=True):
        learns = rows_that_learn(case, table)
        case.expect(any(learns), f"But no row of the {name} table gets a gradient. Is the table frozen?")
        stuck[name] = [row for row, moves in enumerate(learns) if not moves]
    for name, why in used.items():
        if stuck[name]:
            case.fail(
                f"But row {stuck[name][0]} of the {name} table gets no gradient, so it cannot learn.",
                why if stuck[name] == [0] else "Every row of this table is in use, so none of them is padding.",
            )
    if not stuck["token"]:
        case.almost(
            "Every position and every segment can learn now. But looking up [PAD] gives its row a gradient too: "
            "one of the three tables should keep its padding_idx."
        )
    case.expect(
        stuck["token"] == [0],
        f"But in the token table the rows without gradient are {stuck['token']}, and [PAD] has id 0.",
    )


def rows_that_learn(case: Case, table: nn.Embedding) -> list[bool]:
    """For each row of a table, whether a look-up gives it a gradient."""
    result = case.protected(table, torch.arange(table.num_embeddings))
    if not table.weight.requires_grad:
        return [False] * table.num_embeddings
    gradient = torch.autograd.grad(result.sum(), table.weight)[0]
    return [bool(row.any()) for row in gradient]
