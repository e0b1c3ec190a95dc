"""Exercise 4.1: The gradient through three layers."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "4.1",
    "The gradient through three layers",
    difficulty=1,
    minutes=5,
    kind="value",
    hints=(
        "Layers in a row multiply their derivatives. What is the derivative of one layer in each case?",
        "Without a residual connection, a layer is 0.5 x; with it, x + 0.5 x. Take the third power of each derivative.",
    ),
)
def way_back(case: Case) -> None:
    """A predicted pair of derivatives."""
    case.predicted(
        [0.125, 3.375],
        otherwise="For both cases, write down what one layer makes of x, and its derivative. Three layers in a row "
        "multiply their derivatives.",
        mistakes=[
            (
                [3.375, 0.125],
                "Both numbers are right, but in the other order: without residual connections comes first.",
            ),
            (
                [1.5, 3.375],
                "3.375 is right. Without residual connections the derivatives are multiplied as well; you added them.",
            ),
            ([1.5, 4.5], "You added the derivatives of the three layers. The chain rule multiplies them."),
            ([0.5, 1.5], "This is the derivative of one layer. There are three in a row."),
            ([0.125, 1.125], "Your 1.125 has one residual connection around all three layers. Each layer has its own."),
            ([0.125, 2.5], "You added three halves to 1. Is (1 + 0.5)³ equal to 1 + 3 · 0.5?"),
        ],
    )
