"""Exercise 0.1: Count the attention weights."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "0.1",
    "Count the attention weights",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Begin with one head of one layer: each of the 9 tokens attends to 9 tokens. How many weights is that?",
        "Each layer has 2 heads, and there are 2 layers.",
    ),
)
def count_weights(case: Case) -> None:
    """The number of attention weights, L · H · T · T."""
    case.predicted(
        324,
        otherwise="One head has a table of weights, with a row and a column for each token. How many heads are there?",
        mistakes=[
            (36, "36 is one number for each token and head. But each token has a weight for each of the 9 tokens."),
            (18, "18 is one number for each token and layer. But each token has a weight for each of the 9 tokens."),
            (9, "9 is the number of tokens. In each head, each of them has a weight for each of the 9 tokens."),
            (81, "81 is the table of one head in one layer. How many heads are there in all?"),
            (162, "162 is half of it. Did you count one layer only, or one head in each layer?"),
            (288, "288 leaves out that each token also attends to itself."),
            (196, "196 leaves out two tokens: [CLS] and [SEP] are among the 9, and they attend like all others."),
            (484, "484 has two tokens too many: [CLS] and [SEP] are already among the 9."),
        ],
    )
    case.close_with("L · H · T · T = 2 · 2 · 9 · 9. Twice as many tokens need four times as many attention weights.")
