"""Exercise 14.1: Count the pairs."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "14.1",
    "Count the pairs",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "Write the six words in a row. How many neighbors at distance 1 or 2 has the first word? And the third?",
        "Two words at distance 1 or 2 give two pairs: each of them is the center once.",
    ),
)
def count_pairs(case: Case) -> None:
    case.predicted(
        18,
        otherwise="Go through the six centers, one by one. Which words are at most two positions away from it?",
        mistakes=[
            (9, "You counted each two words once. Each of them is the center once, so it gives two pairs."),
            (24, "Six centers with four neighbors each: the words at both ends of the sentence have fewer."),
            (10, "That is a window of 1. Words at distance 2 count, too."),
            (30, "Those are all pairs of the sentence. Only words at most two positions away count."),
            (12, "Each center has words on both sides."),
            (36, "A word is no context of itself, and the ends of the sentence have fewer neighbors."),
        ],
    )
    case.close_with("Nine times two words stand at most two positions apart, and each of the two is the center once.")
