"""Exercise 9.1: Three unequal weights."""

import math

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise


@exercise(
    "9.1",
    "Three unequal weights",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=("What is log₂ of ½, and of ¼?", "½ · 1 + ¼ · 2 + ¼ · 2."),
)
def three_weights(case: Case) -> None:
    """1.5 bits."""
    guess = plain(case.answer)
    if isinstance(guess, float) and math.isnan(guess):
        case.begin("You computed NaN.", "the entropy")
        case.fail("For a computer 0 · log₂ 0 is 0 · (−∞), and that is NaN. A weight of 0 adds 0: leave it out.")
    case.predicted(
        1.5,
        otherwise="Each weight p adds −p · log₂ p. Compute this for the three weights, and add them.",
        mistakes=[
            (2, "2 bits are the entropy of four equal weights. Here one token gets half, and one gets nothing."),
            (
                math.log2(3),
                "That is the entropy of three equal weights. Here one is twice as large, so the entropy is lower.",
            ),
            (1.5 * math.log(2), "That is the right sum in nats. For bits, use the logarithm to base 2."),
            (
                -1.5,
                "The size is right. But logarithms of weights below 1 are negative, hence the minus before the sum.",
            ),
            (5, "You added 1, 2 and 2. Multiply each of them by its weight first: ½, ¼ and ¼."),
            (1, "1 bit is the entropy of two equal weights. One half is there, but the other half is split again."),
            (0.5, "That is the part of the weight ½ alone. The two weights ¼ add something too."),
            (2**1.5, "That is 2 to the power of the entropy. The entropy itself is its exponent."),
        ],
        tolerance=5e-3,
    )
    case.close_with(
        "½ · 1 + ¼ · 2 + ¼ · 2. This head is as undecided as one that attends evenly to 2 ** 1.5 = 2.8 tokens."
    )
