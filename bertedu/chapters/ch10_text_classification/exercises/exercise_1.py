"""Exercise 10.1: Before the first step."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "10.1",
    "Before the first step",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "If all logits are equal, which probability does each of the three classes get?",
        "Minus the natural logarithm of one third.",
    ),
)
def first_loss(case: Case) -> None:
    case.predicted(
        1.10,
        otherwise="Three equal logits give three equal probabilities. What is minus the logarithm of one of them?",
        mistakes=[
            (0, "A model has the loss 0 if it gives the right class the probability 1."),
            (0.33, "One third is the probability of the right class. The loss is minus its logarithm."),
            (1.58, "That is in bits, log₂ 3. The loss uses the natural logarithm."),
            (0.48, "That is the logarithm to the base 10. The loss uses the natural logarithm."),
            (0.69, "That is ln 2, the first loss with two classes. How many classes are there here?"),
            (-1.1, "The size is right, but the sign is not: the loss is *minus* the logarithm."),
        ],
        tolerance=0.011,
    )
    case.close_with("A real head's logits aren't quite 0, so expect a little more in the first batch.")
