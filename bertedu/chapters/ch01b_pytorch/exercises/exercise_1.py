"""Exercise 1b.1: Which shape comes out?"""

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise

# Of each of the four the shape, what to say of known mistakes, and what of any other.
FOUR = (
    (
        [8],
        [
            ([8, 1], "an index such as 0 takes its axis away. Only a slice keeps it."),
            ([2], "a[:, 0] takes all 8 rows, and of each the first number."),
        ],
        "the colon keeps its axis, and the index 0 takes its axis away.",
    ),
    (
        [8, 2],
        [
            ([8, 3], "a + b adds numbers, it doesn't put columns side by side."),
            ([8, 1], "the size 1 is repeated until it fits, so the larger size comes out."),
        ],
        "the 8 meets an 8, and the size 1 is repeated until it fits.",
    ),
    (
        [8],
        [
            ([2], "the axis that you name disappears. Which size has axis 1 of a?"),
            ([8, 1], "without keepdim=True the axis is gone, not kept with size 1."),
        ],
        "a sum takes away the axis that you name, and axes are counted from 0.",
    ),
    (
        [8, 4],
        [
            ([8, 1], "here 1 meets 4. The size 1 is repeated until it fits."),
            ([4, 8], "the 8 stays in front, because shapes are written flush right."),
            ([8], "1 meets 4, so there is a second axis. How long is it?"),
            ([4], "the 8 of b meets nothing, and so it stays."),
        ],
        "write [8, 1] and [4] below each other, flush right.",
    ),
)


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
    """Four predicted shapes: an index, two broadcasts and a sum. The first wrong one is explained."""
    told, expected = plain(case.answer), [shape for shape, _, _ in FOUR]
    if isinstance(told, list) and not all(isinstance(shape, list) for shape in told):
        case.fail("A shape is a list of sizes, one for each axis, here too: a list of four lists, as [[3], [2, 4], …].")
    otherwise = "Four shapes are asked for, one for each line."
    if isinstance(told, list) and len(told) == len(FOUR):
        for place, (got, (right, mistakes, other)) in enumerate(zip(told, FOUR, strict=True), start=1):
            if got != right:
                known = [sentence for wrong, sentence in mistakes if got == wrong]
                otherwise = f"Number {place}: {(*known, other)[0]}"
                break
    case.predicted(expected, otherwise=otherwise)
    case.close_with("An index and a sum take their axis away, and a size of 1 or a missing one is repeated.")
