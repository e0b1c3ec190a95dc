"""Exercise 20.2: As good as English?"""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "20.2",
    "As good as English?",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "How many pieces does WordPiece make of a word if one of its characters is not in the vocabulary?",
        "350 words are in Cyrillic letters. Count all pieces, with the 150 of the names. Fertility divides them by the "
        "400 words; the share of [UNK] is a share of these pieces.",
    ),
)
def as_good_as_english(case: Case) -> None:
    """Fertility and the share of [UNK], of words that are lost and of names that are not."""
    case.predicted(
        [1.25, 0.7],
        otherwise="Count the pieces: 150 of the names, and what WordPiece makes of each of the 350 Cyrillic words.",
        mistakes=[
            ([1.25, 0.0], "0 would be a vocabulary that knows every Russian word. It hasn't seen a Cyrillic letter."),
            (
                [1.25, 0.875],
                "The fertility is right. 0.875 is a share of the words. What share of the pieces is [UNK]?",
            ),
            ([1.25, 1.0], "The fertility is right. The names are in Latin letters, so their pieces are known."),
            ([1.25, 0.3], "The fertility is right. 0.3 is the share of the names' pieces, and these are known."),
            ([1.25, 70.0], "Right, but the second number is in percent. Write it as a share between 0 and 1."),
            ([1.25, 350.0], "The fertility is right. 350 is how many pieces are [UNK]. What share of all is that?"),
            ([500.0, 0.7], "500 is the number of pieces. Fertility is how many that are for each word."),
            ([0.7, 1.25], "Both are right, in the other order: first the fertility."),
            ([0.8, 0.7], "0.8 is the number of words for each piece. Fertility is the number of pieces for each word."),
            ([1.0, 0.875], "You counted one piece for each word. The names are cut into three pieces each."),
            ([1.0, 1.0], "You counted one piece for each word, all [UNK]. The names are cut into known pieces."),
            ([3.0, 0.0], "3 is the fertility of the names alone. What becomes of the Cyrillic words?"),
            ([3.0, 0.7], "3 is the fertility of the names alone. It is measured over all 400 words."),
            ([0.375, 0.0], "You counted the pieces of the names only. [UNK] is a piece, too."),
            ([0.375, 0.7], "You counted the pieces of the names only. [UNK] is a piece, too."),
        ],
    )
