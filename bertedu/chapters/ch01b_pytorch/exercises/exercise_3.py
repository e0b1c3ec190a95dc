"""Exercise 1b.3: A model that knows nothing."""

import math

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "1b.3",
    "A model that knows nothing",
    difficulty=1,
    minutes=2,
    kind="value",
    hints=(
        "Ten equal logits become ten equal probabilities. How large is each of them?",
        "The loss is minus the natural logarithm of 1/10.",
    ),
)
def ignorance(case: Case) -> None:
    """The cross-entropy of ten equal logits, to two decimals."""
    case.predicted(
        math.log(10),
        otherwise="Ten equal logits give each word the same probability. Take minus the natural logarithm of it.",
        tolerance=0.005,
        mistakes=[
            (
                -math.log(10),
                "A loss is never negative: the logarithm of a probability is, so a minus stands before it.",
            ),
            (
                1.0,
                "This is the logarithm to the base 10. Cross-entropy takes the natural one: math.log, not math.log10.",
            ),
            (math.log2(10), "This is in bits, with the logarithm to the base 2. Cross-entropy takes the natural one."),
            (0.1, "This is the probability of the right word. The loss is minus its logarithm."),
            (0.9, "This is 1 minus the probability. The loss is minus its logarithm."),
            (math.log(4), "That would be a choice among 4 words. How many are in our vocabulary?"),
            (10.0, "This is the number of words. Which probability has each of them?"),
            (0.0, "The loss is 0 only where the right word has the probability 1."),
        ],
    )
    case.close_with("Ten equal words share the probability, so the right one has 1/10, and -ln(1/10) = ln 10.")
