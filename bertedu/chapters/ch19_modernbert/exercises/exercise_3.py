"""Exercise 19.3: At the border."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "19.3",
    "At the border",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "How far is the farthest token that token 4000 attends to, on each side? That token is seen too.",
        "64 on the left, 64 on the right, and the token itself. What is missing at the beginning of the text?",
    ),
)
def at_the_border(case: Case) -> None:
    case.predicted(
        [65, 75, 129],
        otherwise="Count three groups for each token: at most 64 on its left, itself, at most 64 on its right.",
        mistakes=[
            ([64, 74, 128], "A token attends to itself as well."),
            ([64, 74, 129], "Token 0 attends to itself as well, and so does token 10."),
            ([65, 76, 129], "Token 10 has the tokens 0 to 9 on its left. How many are these?"),
            ([64, 75, 129], "Token 0 attends to itself as well."),
            ([65, 74, 128], "Token 10 has the tokens 0 to 9 on its left, and token 4000 attends to itself as well."),
            ([66, 76, 130], "One too many: a token counts itself once, and at most 64 on each side."),
            ([65, 75, 65], "Token 4000 has neighbors on both sides."),
            ([64, 64, 128], "A token attends to itself as well, and token 10 has ten tokens on its left."),
            ([65, 75, 128], "You counted 128 for token 4000: that is 64 to each side. And itself?"),
            ([65, 74, 129], "Token 10 has the tokens 0 to 9 on its left. How many are these?"),
            ([65, 65, 129], "Token 10 has some tokens on its left, too."),
            ([64, 74, 127], "The border is inclusive: a token that is exactly 64 positions away is still seen."),
            ([129, 129, 129], "There are no tokens before token 0."),
            (
                [128, 128, 128],
                "There are no tokens before token 0. And a window of 128 is 64 to each side and the token.",
            ),
            ([129, 139, 257], "128 is the whole window: at most 64 positions away on each side."),
            ([33, 43, 65], "At most 64 away on *each* side: 128 is divided once."),
            ([1, 11, 65], "That is a decoder, which attends to the left only. BERT attends to both sides."),
            ([1, 11, 129], "Tokens 0 and 10 have 64 neighbors on their right, as token 4000 has."),
            ([8192, 8192, 8192], "That is a global layer. This one is local."),
        ],
    )
