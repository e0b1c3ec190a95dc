"""Exercise 3.1: The token that looks for nothing."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "3.1",
    "The token that looks for nothing",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "What is the dot product of a vector of zeros with any other vector? You get three scores.",
        "All three scores are 0, and e to the 0 is 1. What share of the sum of the three powers is one of them?",
    ),
)
def looks_for_nothing(case: Case) -> None:
    case.predicted(
        1 / 3,
        otherwise="First compute the three scores of the query of keys. What does softmax make of them?",
        mistakes=[
            (
                0.0,
                "A score of 0 does not give a weight of 0: e to the 0 is 1. How many such ones are there in the sum?",
            ),
            (1.0, "1 is e to the score. Divide it by the sum of all three powers."),
            (0.5, "1/2 would be right for two tokens. Keys also attends to itself and to [MASK]."),
            (-1 / 3, "An attention weight is never negative: the value of lamp is, but this asks for its weight."),
            (0.11, "That is the weight in the row of [MASK]. The row of keys begins with the query of keys."),
            (0.67, "That is the weight with which lamp attends to itself. Use the query of keys instead."),
            (33, "That is a percentage. An attention weight is a share from 0 to 1."),
            (100 / 3, "That is a percentage. An attention weight is a share from 0 to 1."),
            (0.09, "That is the weight with which lamp attends to keys. This asks for the other direction."),
        ],
        tolerance=0.006,
    )
