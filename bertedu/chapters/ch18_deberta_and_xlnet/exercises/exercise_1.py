"""Exercise 18.1: The row of a distance."""

import numpy as np
import torch
from torch import Tensor

from bertedu.chapters.ch18_deberta_and_xlnet.exercises.shared import rows
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "18.1",
    "The row of a distance",
    difficulty=1,
    minutes=6,
    hints=(
        "torch.arange(length)[:, None] is a column of positions. What do you get if you subtract a row of positions?",
        "The column minus the row is i − j. Add span, then clamp the result to 0 … 2 · span − 1.",
    ),
)
def relative_index(case: Case) -> None:
    """Six tokens with span 3, where both ends are clamped, then other sizes."""
    case.causes = {
        "unsqueeze": "torch.arange gives a tensor with one axis; [:, None] makes it a column.",
        "must be Number": "clamp takes two numbers, the smallest and the largest that may come out.",
    }
    length, span = 6, 3
    got = case.call(length, span, tried=f"length = {length} and span = {span}")
    got = torch.tensor(got) if isinstance(got, list) and got and isinstance(got[0], list) else got
    got = torch.from_numpy(got) if isinstance(got, np.ndarray) else got
    case.is_a("the result", got, Tensor, "a tensor of integers (torch.arange makes one)")
    case.expect(
        list(got.shape) != [2 * length - 1], "But you return a row for each distance. Each *pair* of tokens needs one."
    )
    case.same_shape("index", got, [length, length], "A row for each query, a column for each key.")
    case.expect(
        not got.is_floating_point() and got.dtype != torch.bool,
        f"But the result has the type {str(got.dtype)[6:]}. Rows of a table are numbered by integers (int64).",
    )
    known_rows(case, got, length, span)
    differing(case, got, rows(length, span))
    case.equal("index", got, rows(length, span), "Distance, plus span, then clamped: which of the three differs?")
    for length, span in ((4, 8), (1, 1), (9, 2)):
        got = case.call(length, span, tried=f"length = {length} and span = {span}")
        got = torch.from_numpy(got) if isinstance(got, np.ndarray) else got
        case.equal("index", got, rows(length, span), "Use the two arguments, and no number from the first call.")


def differing(case: Case, got: Tensor, expected: Tensor) -> None:
    """Show the first row that differs."""
    for i, (mine, right) in enumerate(zip(got.tolist(), expected.tolist(), strict=True)):
        if mine != right:
            case.fail(
                f"But the row of query {i} is {mine}, and should be {right}.",
                "Distance, plus span, then clamped: which of the three differs?",
            )


def known_rows(case: Case, got: Tensor, length: int, span: int) -> None:
    """Tell known mistakes by what they give."""
    positions = torch.arange(length)
    distance = positions[:, None] - positions
    edges = (0, 2 * span - 1)
    mistakes = [
        (
            (-distance + span).clamp(*edges),
            "This is j − i: row and column are swapped. The query i runs along the rows, the key j along the columns, "
            "and a key to the left has a positive distance.",
        ),
        (
            distance + span,
            "Nothing is clamped: the table has the rows 0 to 2s − 1 only, and some of your numbers lie outside.",
        ),
        (
            distance.clamp(-span, span - 1),
            "These are the clamped distances, and some are negative. A row of a table starts at 0: add the span.",
        ),
        (distance.clamp(*edges), "Distance 0 should get row s, in the middle. Which step is missing?"),
        (
            distance.clamp(*edges) + span,
            "You clamped to 0 … 2s − 1 before you added s, so all keys to the right share one row. First add, "
            "then clamp.",
        ),
        (
            distance.abs().clamp(max=edges[1]),
            "Without its sign, a distance to the left and one to the right get the same row.",
        ),
        ((distance.abs() + span).clamp(*edges), "The sign of the distance is lost: left and right get the same row."),
        (
            (distance + span).clamp(0, 2 * span),
            "The largest row should be 2s − 1: a table with 2s rows, numbered from 0, has no row 2s.",
        ),
        (
            (-distance + span).clamp(0, 2 * span),
            "This is j − i: row and column are swapped. And the largest row should be 2s − 1.",
        ),
        (
            (distance + span).clamp(1, 2 * span),
            "Rows are numbered from 0: the table's first row is 0, and its last one 2s − 1.",
        ),
        (
            (distance + span).clamp(0, span - 1),
            "The table has 2s rows. You clamp as if it had s, so everything from distance 0 on shares a row.",
        ),
        (
            (distance + length).clamp(0, 2 * length - 1),
            "You used the length as the span. The table's size is 2 · span, whatever the text's length.",
        ),
        ((distance + span) % (2 * span), "What leads out of the table should get the nearest row, not start again."),
    ]
    for wrong, sentence in mistakes:
        if torch.equal(got, wrong):
            case.fail(
                f"But the row of query 5 is {got[5].tolist()}, and that of query 0 is {got[0].tolist()}.", sentence
            )
