"""Exercise 2.2: Which rows get a gradient?"""

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise


@exercise(
    "2.2",
    "Which rows get a gradient?",
    difficulty=2,
    minutes=5,
    kind="value",
    hints=(
        "The loss is a sum of four looked-up numbers. How often does each row of the table occur in that sum?",
        "If a row is used twice, the two gradients are added. Then remember what padding_idx does.",
    ),
)
def gradients(case: Case) -> None:
    """How often each row is used, without [PAD]'s. A column is right too: `embedding.weight.grad` has that shape."""
    rows = plain(case.answer)
    if isinstance(rows, list) and rows and all(isinstance(row, list) and len(row) == 1 for row in rows):
        case.answer = [row[0] for row in rows]
    case.predicted(
        [0, 0, 2, 0, 1],
        otherwise="The table has five rows, so write five numbers. Go through the ids one by one: each use of a row "
        "adds 1 to its gradient. And what does padding_idx do?",
        mistakes=[
            ([1, 0, 2, 0, 1], "Row 0 was looked up, but which row is padding_idx?"),
            ([0, 0, 1, 0, 1], "Id 2 occurs twice in the text. What happens to the gradient of a number used twice?"),
            ([1, 0, 1, 0, 1], "Two things are missing: id 2 occurs twice, and row 0 is the row of padding_idx."),
            ([1, 1, 1, 1, 1], "Rows 1 and 3 do not occur in this text: changing them would not change the loss."),
            ([0, 1, 2, 1, 1], "Rows 1 and 3 do not occur in this text: changing them would not change the loss."),
            ([0, 0, 4, 0, 4], "These are sums of ids. An id only selects a row; each use counts as 1."),
            ([0, 0, 0.5, 0, 0.25], "This is the gradient of a mean. The loss here is the sum."),
        ],
    )
