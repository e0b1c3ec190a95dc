"""Exercise 2.5: Repair the tables."""

import torch
from torch import nn

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


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
