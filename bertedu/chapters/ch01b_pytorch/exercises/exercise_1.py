"""Exercise 1b.1: Which shape comes out?"""

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise


@exercise(
    "1b.1",
    "Which shape comes out?",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "An index and a sum take an axis away. In a sum of two tensors a size of 1 is repeated.",
        "For number 4 write [8, 1] and [4] below each other, flush right: 1 meets 4, and 8 meets nothing.",
    ),
)
def shapes(case: Case) -> None:
    """Four predicted shapes: an index, two broadcasts and a sum."""
    told = plain(case.answer)
    if isinstance(told, list) and not all(isinstance(shape, list) for shape in told):
        case.fail("A shape is a list of sizes, one for each axis, here too: a list of four lists, as [[3], [2, 4], …].")
    case.predicted(
        [[8], [8, 2], [8], [8, 4]],
        otherwise="Go through them one by one: an index takes its axis away, so does sum, and in a + b a size of 1 is "
        "repeated.",
        mistakes=[
            ([[8, 1], [8, 2], [8], [8, 4]], "Number 1: an index such as 0 takes its axis away. Only a slice keeps it."),
            ([[2], [8, 2], [8], [8, 4]], "Number 1: a[:, 0] takes all 8 rows, and of each the first number."),
            ([[8], [8, 3], [8], [8, 4]], "Number 2: a + b adds numbers, it doesn't put columns side by side."),
            (
                [[8], [8, 1], [8], [8, 4]],
                "Number 2: the size 1 is repeated until it fits, so the larger size comes out.",
            ),
            ([[8], [8, 2], [2], [8, 4]], "Number 3: the axis that you name disappears. Which size has axis 1 of a?"),
            ([[8], [8, 2], [8, 1], [8, 4]], "Number 3: without keepdim=True the axis is gone, not kept with size 1."),
            ([[8], [8, 2], [8], [8, 1]], "Number 4: here 1 meets 4. The size 1 is repeated until it fits."),
            ([[8], [8, 2], [8], [4, 8]], "Number 4: the 8 stays in front, because shapes are written flush right."),
            ([[8], [8, 2], [8], [8]], "Number 4: 1 meets 4, so there is a second axis. How long is it?"),
            ([[8], [8, 2], [8], [4]], "Number 4: the 8 of b meets nothing, and so it stays."),
        ],
    )
