"""Exercise 4.2: GELU, twice."""

import math

import torch
from torch import Tensor
from torch.nn.functional import gelu, relu

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

FOR_TENSORS = "math.erf and math.tanh take single numbers. For tensors use torch.erf and torch.tanh."


def tanh_form(x: Tensor, inner: Tensor) -> Tensor:
    """The tanh form of GELU, also with something else inside tanh."""
    return 0.5 * x * (1 + torch.tanh(inner))


@exercise(
    "4.2",
    "GELU, twice",
    difficulty=2,
    minutes=10,
    without=("gelu",),
    hints=(
        "Both forms are x · Φ(x). First write Φ, straight from the two formulas.",
        "Exact: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))). In the tanh form, replace erf(…) by "
        "torch.tanh(math.sqrt(2 / math.pi) * (x + …)).",
    ),
)
def gelu_twice(case: Case) -> None:
    """Both forms of GELU, for large numbers and in float64 too."""
    case.causes = {"only one element": FOR_TENSORS, "must be real number": FOR_TENSORS}
    x = 2 * case.randn(3, 5)
    x[0, 0] = -2.7  # where the two forms differ most, and show it in three digits
    phi, root = 0.5 * (1 + torch.erf(x / math.sqrt(2))), math.sqrt(2 / math.pi)
    bell = x * root / 2 * torch.exp(-x * x / 2)
    fitted = tanh_form(x, root * (x + 0.044715 * x**3))
    case.close(
        "gelu(x)",
        case.call(x, tried="15 numbers"),
        gelu(x),
        "GELU(1) should be 0.8413, GELU(-1) -0.1587 and GELU(0) 0. What does yours return?",
        mistakes={
            "This is Φ(x) alone. GELU is x times Φ(x).": phi,
            "Inside erf, x must be divided by √2.": 0.5 * x * (1 + torch.erf(x)),
            "Inside erf you multiply by √2 where the formula divides.": 0.5 * x * (1 + torch.erf(x * math.sqrt(2))),
            "The division by √2 belongs inside erf: erf(x / √2).": 0.5 * x * (1 + torch.erf(x) / math.sqrt(2)),
            "This is relu. Where is Φ?": relu(x),
            "This is x · sigmoid(x), called SiLU. Φ is computed with erf.": x * torch.sigmoid(x),
            "This is the tanh form. Without tanh=True the function should return the exact form.": fitted,
            "The factor ½ is missing: Φ runs from 0 to 1, but 1 + erf from 0 to 2.": 2 * x * phi,
            "This is x times the height of the bell curve. Φ is the area below it, left of x.": bell,
        },
    )
    right = "The exact form is right. In the tanh form "
    case.close(
        "gelu(x, tanh=True)",
        case.call(x, tried="15 numbers with tanh=True", tanh=True),
        fitted,
        "The exact form is right. Compare your tanh form with the formula, factor by factor.",
        mistakes={
            "This is the exact form again: your function does not use `tanh`.": gelu(x),
            right + "the factor √(2/π) is missing.": tanh_form(x, x + 0.044715 * x**3),
            right + "√(2/π) is upside down.": tanh_form(x, (x + 0.044715 * x**3) / root),
            right + "the cubic term is missing.": tanh_form(x, root * x),
            right + "√(2/π) should multiply the whole bracket.": tanh_form(x, root * x + 0.044715 * x**3),
            right + "x is squared where the formula has the third power.": tanh_form(x, root * (x + 0.044715 * x**2)),
        },
    )
    far = case.call(torch.tensor([-30.0, 30.0]), tried="-30 and 30")
    case.close("gelu(x)", far, torch.tensor([0.0, 30.0]), "For very negative numbers Φ is 0, for very large ones 1.")
    double = case.call(torch.ones(2, dtype=torch.float64), tried="float64")
    case.dtype("the result", double, torch.float64, "Does your code contain a constant of another type?")
    case.gradient_flows(x, names=("x",), tried="15 numbers")
    case.close_with("The two forms differ by at most 0.0005, as the next figure shows.")
