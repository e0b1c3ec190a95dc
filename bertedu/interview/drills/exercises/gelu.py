"""Whiteboard drill: GELU, its tanh form and its derivative."""

import math

import torch
from torch import Tensor
from torch.nn.functional import gelu as reference

from bertedu.course.case import Case
from bertedu.interview.drills.drill import Drill

TASK = """
Write `gelu(x)`: the activation of BERT's feed-forward networks, in three parts.

    x    any shape

Return three tensors of that shape:

1. GELU in its exact form, x · Φ(x), where Φ is the distribution function of the standard normal distribution;
2. the approximation with tanh of Google's code: the constants are √(2/π) and 0.044715;
3. the derivative of the exact form, written as a formula.

Allowed: torch.erf, torch.exp, torch.tanh. Not allowed: torch's own gelu, and autograd for the derivative.
"""

STUB = """
import math

import torch


def gelu(x):
    raise NotImplementedError
"""

SOLUTION = """
import math

import torch


def gelu(x):
    phi = 0.5 * (1 + torch.erf(x / math.sqrt(2)))  # the share of the normal distribution below x
    density = torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    fitted = 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * phi, fitted, phi + x * density
"""

ROOT = math.sqrt(2 / math.pi)


def examine(case: Case) -> None:
    """The three parts one after the other, then numbers far from 0 and a gradient."""
    for_tensors = "math.erf and math.tanh take single numbers. For tensors use torch.erf and torch.tanh."
    case.causes = {"only one element": for_tensors, "must be real number": for_tensors}
    x = 2 * case.randn(3, 5)
    x[0, 0] = -2.7  # where the two forms differ most
    exact, fitted, slope = case.parts(case.call(x, tried="15 numbers"), "exact", "tanh_form", "derivative")
    phi, density = 0.5 * (1 + torch.erf(x / math.sqrt(2))), torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    cdf = "GELU(1) should be 0.8413 and GELU(-1) -0.1587. What is yours?"
    case.close("the exact form", exact, reference(x), cdf, mistakes=wrong_exact(x, phi, density))
    advice = "The exact form is right. Go through 0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) factor by factor."
    case.close("the tanh form", fitted, tanh_form(x, ROOT * (x + 0.044715 * x**3)), advice, mistakes=wrong_tanh(x))
    advice = "Both forms are right. Apply the product rule to x · Φ(x): what is the derivative of Φ?"
    case.close("the derivative", slope, phi + x * density, advice, mistakes=wrong_slope(x, phi, density))
    far = torch.tensor([-30.0, -0.0, 30.0])
    parts = case.parts(case.call(far, tried="-30, 0 and 30"), "exact", "tanh_form", "derivative")
    for name, got, wanted in zip(("the exact form", "the tanh form", "the derivative"), parts, FAR, strict=True):
        case.close(
            name, got, torch.tensor(wanted), "Far to the left Φ is 0, far to the right 1: nothing may become nan."
        )
    case.gradient_flows(x, names=("x",), tried="15 numbers")


FAR = ([0.0, 0.0, 30.0], [0.0, 0.0, 30.0], [0.0, 0.5, 1.0])


def tanh_form(x: Tensor, inner: Tensor) -> Tensor:
    """The tanh form of GELU, also with something else inside tanh."""
    return 0.5 * x * (1 + torch.tanh(inner))


def wrong_exact(x: Tensor, phi: Tensor, density: Tensor) -> dict[str, Tensor]:
    """What known mistakes give for the exact form."""
    return {
        "This is Φ(x) alone. GELU is x times Φ(x).": phi,
        "Inside erf, x is divided by √2: erf belongs to a normal distribution of variance ½.": (
            0.5 * x * (1 + torch.erf(x))
        ),
        "The factor ½ is missing: 1 + erf goes from 0 to 2, and Φ from 0 to 1.": 2 * x * phi,
        "This is x · sigmoid(x), called SiLU or Swish.": x * torch.sigmoid(x),
        "This is x · sigmoid(1.702 x), a coarser approximation.": x * torch.sigmoid(1.702 * x),
        "This is the tanh form. The exact one comes first.": tanh_form(x, ROOT * (x + 0.044715 * x**3)),
        "This is ReLU.": x.clamp_min(0),
        "This is x times the density of the normal distribution. Φ is the area below it, left of x.": x * density,
    }


def wrong_tanh(x: Tensor) -> dict[str, Tensor]:
    """What known mistakes give for the tanh form."""
    cubic = x + 0.044715 * x**3
    return {
        "This is the exact form again.": reference(x),
        "The factor √(2/π) is missing.": tanh_form(x, cubic),
        "√(2/π) is upside down.": tanh_form(x, cubic / ROOT),
        "The constant is √(2/π), and you use 2/π.": tanh_form(x, cubic * 2 / math.pi),
        "√(2/π) should multiply the whole bracket.": tanh_form(x, ROOT * x + 0.044715 * x**3),
        "x is squared where the formula has the third power.": tanh_form(x, ROOT * (x + 0.044715 * x**2)),
        "The cubic term is missing.": tanh_form(x, ROOT * x),
        "The factor ½ is missing.": 2 * tanh_form(x, ROOT * cubic),
    }


def wrong_slope(x: Tensor, phi: Tensor, density: Tensor) -> dict[str, Tensor]:
    """What known mistakes give for the derivative."""
    return {
        "The product rule has two terms: x · Φ'(x) is missing.": phi,
        "The product rule has two terms: Φ(x) is missing.": x * density,
        "The second term needs a factor x: (x · Φ)' = Φ + x · Φ'.": phi + density,
        "The density is divided by √(2π), and yours by √2 or not at all.": phi + x * torch.exp(-x * x / 2),
        "The density is divided by √(2π), not by 2π.": phi + x * density / math.sqrt(2 * math.pi),
        "The exponent of the density is -x²/2, and yours is -x².": phi + x * torch.exp(-x * x) / math.sqrt(2 * math.pi),
        "The sign of the second term is wrong.": phi - x * density,
        "This is the derivative of ReLU.": (x > 0).float(),
    }


DRILL = Drill(
    name="gelu",
    title="GELU, its tanh form and its derivative",
    minutes=8,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="04",
    section="GELU",
    hints=(
        "Φ(x) = ½ (1 + erf(x / √2)). Its derivative is the density of the normal distribution.",
        "The derivative is Φ(x) + x · exp(-x²/2) / √(2π), by the product rule; the tanh form replaces erf(x / √2) by "
        "tanh(√(2/π) (x + 0.044715 x³)).",
    ),
    examine=examine,
    without=("gelu", "GELU", "run_backward"),
)
