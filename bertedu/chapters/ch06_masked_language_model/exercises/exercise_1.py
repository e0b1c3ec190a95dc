"""Exercise 6.1: How many masks?"""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "6.1",
    "How many masks?",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=("How many of the 60 tokens are chosen?", "What share of the chosen tokens becomes [MASK]?"),
)
def how_many_masks(case: Case) -> None:
    """0.15 of 60, and 0.8 of those."""
    case.predicted(
        7.2,
        otherwise="First compute the number of chosen tokens, 15 % of 60. Then the share of those that becomes [MASK].",
        mistakes=[
            (9, "9 tokens are chosen and get a label. Not all of those become [MASK]: what happens to the others?"),
            (48, "That is 80 % of all tokens. Almost no text would be left. 80 % of what?"),
            (8.1, "That is 90 % of the chosen tokens: [MASK] and random tokens together. Count only [MASK]."),
            (0.9, "That is a tenth of the chosen tokens: the random ones. How many become [MASK]?"),
            (6.96, "That is 15 % of 58 tokens. [CLS] and [SEP] are never chosen, but they count: take 15 % of all 60."),
            (7, "Close. But what becomes of a chosen token is drawn, so the average need not be a whole number."),
        ],
    )
    case.close_with("15 % of 60 are 9, and 80 % of these become [MASK]: 9 · 0.8. The other 1.8 have a label, too.")
