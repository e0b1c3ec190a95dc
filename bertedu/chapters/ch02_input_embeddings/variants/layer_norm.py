"""Variants of chapter 2: a LayerNorm with other conventions. Positions of packed texts: positions.py."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Mistakes, compare
from bertedu.course.variant import COPIED, Draws, Variant

LAYOUTS = ("BDT", "DBT")
SIZES = (({"B": 2, "D": 6, "T": 6}, 0.5), ({"B": 3, "D": 6, "T": 6}, 0.1), ({"B": 3, "D": 4, "T": 5}, 0.3))
WHAT_LIES_THERE = {"B": "texts", "T": "tokens", "D": "numbers of a token"}


@dataclass(frozen=True)
class Norm:
    """A LayerNorm: the order of the axes, and the conventions in which two of them can differ."""

    layout: str
    unbiased: bool  # the sum of squares is divided by D - 1
    outside: bool  # eps is added to the standard deviation
    from_one: bool  # the weight is stored as its difference from 1
    over: str = "D"  # the axes that the mean and the variance are taken over
    eps: bool = True
    centred: bool = True
    rooted: bool = True

    def along(self, numbers: Tensor) -> Tensor:
        """D numbers in the shape that broadcasts along the axis of D."""
        return numbers.view([-1 if axis == "D" else 1 for axis in self.layout])

    def normal(self, x: Tensor, eps: float) -> Tensor:
        """What is multiplied by the weight: of the shape of x."""
        axes = [self.layout.index(axis) for axis in self.over]
        eps = eps if self.eps else 0.0
        variance = x.var(axes, correction=int(self.unbiased), keepdim=True)
        divisor = variance.sqrt() + eps if self.outside else (variance + eps).sqrt()
        return (x - x.mean(axes, keepdim=True) * self.centred) / (divisor if self.rooted else divisor**2)

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        return self.normal(x, eps) * self.along(weight + self.from_one) + self.along(bias)


def chapters_answer(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """What the chapter's solution returns; nothing where it stops, because the last axis is not of size D."""
    return layer_norm(x, [x.size(-1)], weight, bias, eps) if x.size(-1) == len(weight) else torch.zeros(0)


def wrong_norms(rule: Norm) -> Mistakes:
    """The known mistakes, by the sentence that explains them."""
    shown = f"[{', '.join(rule.layout)}]"
    divisor = "D - 1" if rule.unbiased else "D"
    place = "to the standard deviation, outside the root" if rule.outside else "to the variance, inside the root"
    weight = "The factor is 1 + weight here." if rule.from_one else "The factor is the weight itself here."

    def last_axis(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        return rule.normal(x, eps) * (weight + rule.from_one) + bias if x.size(-1) == len(weight) else torch.zeros(0)

    return {
        COPIED.format(number="2.3"): chapters_answer,
        **{
            f"You normalized over the {WHAT_LIES_THERE[axis]}. The axes are {shown}: which holds the D numbers of one "
            "token?": replace(rule, over=axis)
            for axis in "TB"
        },
        "All numbers of x share one mean here. Each token should have its own.": replace(rule, over="BTD"),
        f"Weight and bias lie along the last axis of x. The axes are {shown}.": last_axis,
        f"The sum of squares should be divided by {divisor}.": replace(rule, unbiased=not rule.unbiased),
        f"eps is added to the wrong number. Add it {place}.": replace(rule, outside=not rule.outside),
        "eps is not used.": replace(rule, eps=False),
        weight: replace(rule, from_one=not rule.from_one),
        "The bias is missing.": lambda x, weight, bias, eps: rule(x, weight, bias * 0, eps),
        "The numbers are normalized, but weight and bias are missing.": lambda x, _, __, eps: rule.normal(x, eps),
        "The mean is not subtracted.": replace(rule, centred=False),
        "You divide by a variance. Divide by its root, the standard deviation.": replace(rule, rooted=False),
    }


def normalizing(draws: Draws) -> Variant:
    """LayerNorm over another axis, with another divisor, another use of eps and another kind of weight."""
    flags = (True, False)
    rule = Norm(draws.pick(LAYOUTS), draws.pick(flags), draws.pick(flags), draws.pick(flags))
    shown = f"[{', '.join(rule.layout)}]"

    def examine(case: Case) -> None:
        case.causes = {
            "must match the": f"The axes of x are {shown}. Along which one do the D numbers lie? What does keepdim do?",
        }
        rows = []
        for sizes, eps in SIZES:
            x, weight, bias = (case.randn(*(sizes[axis] for axis in axes)) for axes in (rule.layout, "D", "D"))
            rows.append((f"x {shown} of sizes {list(x.shape)}, eps {eps:g}", 2 * x + 3, weight, bias, eps))
        advice = f"The D numbers of a token lie along axis {rule.layout.index('D')}. Check each convention of the text."
        compare(case, rows, rule, wrong_norms(rule), advice)
        _, x, weight, bias, eps = rows[-1]
        case.gradient_flows(x, weight, bias, names=("x", "weight", "bias"), tried="3 texts", eps=eps)

    divisor = "D - 1" if rule.unbiased else "D"
    place = "the standard deviation, outside the root" if rule.outside else "the variance, inside the root"
    factor = "its **difference from 1**: multiply by 1 + weight" if rule.from_one else "the factor **itself**"
    text = (
        f"Write `norm(x, weight, bias, eps)` for `x` of shape `{shown}`: each token is normalized over its D numbers, "
        f"by its own mean and standard deviation. The sum of squares is divided by **{divisor}**. `eps` is added to "
        f"**{place}**. `weight` and `bias` have the shape `[D]`; `weight` holds {factor}. Return the shape of `x`. "
        "Don't use torch's own layer."
    )
    hints = (
        f"Along which axis of {shown} do the D numbers of one token lie? mean and var take it, and keepdim=True.",
        "weight.view(…) with 1 for every other axis makes a shape that broadcasts. Now go through the text again.",
    )
    exercise = Exercise("2.11", "LayerNorm by other conventions", 2, 12, hints, examine)
    return Variant(exercise, text, "def norm(x, weight, bias, eps):")


MAKERS = {"2.11": normalizing}
