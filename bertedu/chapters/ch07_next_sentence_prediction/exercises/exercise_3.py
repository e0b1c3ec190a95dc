"""Exercise 7.3: Two sentences."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

PERCENT = "Give a number between 0 and 1, not a percentage."


@exercise(
    "7.3",
    "Two sentences",
    difficulty=2,
    minutes=6,
    kind="value",
    hints=(
        "Write down all pairs that one document gives after heads, and all that it gives after tails.",
        "Take 1000 documents; 500 of them get heads. How many pairs are there in all, and how many are NotNext?",
    ),
)
def two_sentences(case: Case) -> None:
    """2/3: a second pair exists only after tails."""
    case.predicted(
        2 / 3,
        otherwise="Take 1000 documents. How many pairs do the 500 with heads give, and how many the 500 with tails?",
        mistakes=[
            (0.5, "That is the coin alone. After tails one sentence is put back. What becomes of it?"),
            (0.75, "That is the mean of 50 % and 100 %. But a second pair exists only after tails."),
            (1 / 3, "That is the share of IsNext."),
            (1.0, "After heads the pair is IsNext, and the document is used up."),
            (0.61, "That is the share in our text. Here every document has two sentences."),
            (200 / 3, PERCENT),
            (67, PERCENT),
        ],
        tolerance=0.01,
    )
    case.close_with(
        "Two documents, one with heads and one with tails, give three pairs, and the two of tails are NotNext."
    )
