"""Exercise 17.1: Count the ones."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "17.1",
    "Count the ones",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "How many tokens are chosen? For each of them a word is sampled, whether it was masked or not.",
        "Of the 9 chosen tokens, one in three gets its own word back. Which label has that token?",
    ),
)
def count_the_ones(case: Case) -> None:
    case.predicted(
        6,
        otherwise="First compute how many tokens are chosen. At which of them does another word stand afterwards?",
        mistakes=[
            (9, "9 tokens are chosen. But where the generator samples the right word, nothing was replaced."),
            (3, "3 is the number of lucky guesses. Their label is 0, because the right word stands there."),
            (5.1, "You counted the masked tokens only. A word is sampled for each chosen token, masked or not."),
            (7.65, "7.65 tokens are masked. A word is sampled for every chosen token, and some samples are right."),
            (
                2.55,
                "Those are the lucky guesses at masked tokens. The question is how many words are wrong afterwards.",
            ),
            (5.8, "15 % are chosen of all 60 tokens, [CLS] and [SEP] included."),
            (8, "Are those the masked tokens, rounded? A word is sampled for every chosen token, masked or not."),
            (54, "54 is the number of original tokens: their label is 0."),
            (51, "51 tokens are not chosen, and their label is 0."),
            (40, "15 % are chosen first. A word is sampled for these tokens only, not for all 60."),
            (0.1, "That is the share of the text. How many of its 60 tokens is that?"),
            (10, "If you mean 10 percent: how many of the 60 tokens is that?"),
        ],
        tolerance=0.005,
    )
