"""Exercise 20.2: A perfect fertility."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "20.2",
    "A perfect fertility",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "What does WordPiece do with a word if one of its characters is not in the vocabulary?",
        "The whole word becomes a single [UNK]. How many of the 400 words have a Cyrillic letter?",
    ),
)
def perfect_fertility(case: Case) -> None:
    """All of them."""
    case.predicted(
        1.0,
        otherwise="Each of these words has letters that the vocabulary doesn't have. What does WordPiece make of it?",
        mistakes=[
            (0, "0 would be a vocabulary that knows every Russian word. It has not seen a single Cyrillic letter."),
            (400, "The right idea, but that is the number of pieces. Write it as a share between 0 and 1."),
            (100, "The right idea, but in percent. Write it as a share between 0 and 1."),
            (0.5, "Half of them? Which Russian word could be cut into pieces without a Cyrillic letter?"),
            (0.125, "That is one word of eight. Which of the others could the vocabulary know?"),
        ],
    )
