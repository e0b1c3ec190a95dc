"""Whiteboard drill: LayerNorm."""

import torch
from torch import Tensor
from torch.nn.functional import layer_norm as reference

from bertedu.course.case import Case
from bertedu.interview.drills.drill import Drill

TASK = """
Write `layer_norm(x, weight, bias, eps=1e-12)`: LayerNorm over the last axis, as in every layer of BERT.

    x       [..., D]   any number of axes before the last
    weight  [D]
    bias    [D]

Return a tensor of the shape of x. Each vector of D numbers is normalized alone, to mean 0 and variance 1 (eps is added
to the variance), then scaled by weight and shifted by bias. It has to be exact where the mean is large, near 3000.

Allowed: mean, var, sqrt and arithmetic. Not allowed: torch's own layer_norm.
"""

STUB = """
import torch


def layer_norm(x, weight, bias, eps=1e-12):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def layer_norm(x, weight, bias, eps=1e-12):
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)  # divided by D, not by D - 1
    return centered / torch.sqrt(variance + eps) * weight + bias
"""


def examine(case: Case) -> None:
    """The formula on three axes, then eps, a vector of equal numbers, a large mean, other axes and gradients."""
    case.causes = {"must match the size": "x.mean(-1) has one axis less than x: keepdim=True keeps it as 1."}
    x, weight, bias = case.randn(2, 3, 8) * 3 + 5, case.randn(8), case.randn(8)
    got = case.call(x, weight, bias, tried="2 texts of 3 tokens with D = 8")
    advice = "Use the mean and the variance of the D numbers of each token."
    case.close("the result", got, reference(x, [8], weight, bias, 1e-12), advice, mistakes=wrong(x, weight, bias))
    small = 1e-3 * case.randn(2, 8)
    got = case.call(small, weight, bias, 1e-5, tried="small numbers and an eps of 1e-5")
    case.close("the result", got, reference(small, [8], weight, bias, 1e-5), "Where is eps added?",
               mistakes=wrong_eps(small, weight, bias, 1e-5))  # fmt: skip
    alike = torch.full((1, 8), 3.0)
    got = case.call(alike, weight, bias, tried="a vector of eight equal numbers")
    case.close("the result", got, bias[None], "Nothing differs from the mean, so only bias is left.")
    far = case.randn(4, 8) + 3000
    got = case.call(far, weight, bias, 1e-5, tried="numbers near 3000")
    exact = reference(far.double(), [8], weight.double(), bias.double(), 1e-5).float()
    case.close(
        "the result",
        got,
        exact,
        "With a mean of x² minus a squared mean, two large numbers cancel and float32 keeps nothing of their "
        "difference. Subtract the mean first, then square.",
        tolerance=1e-2,
    )
    one = case.randn(8)
    case.close("the result", case.call(one, weight, bias, tried="a single vector [D]"),
               reference(one, [8], weight, bias, 1e-12), "The last axis is always -1.")  # fmt: skip
    case.gradient_flows(x, weight, bias, names=("x", "weight", "bias"), tried="2 texts of 3 tokens")


def wrong(x: Tensor, weight: Tensor, bias: Tensor) -> dict[str, Tensor]:
    """What known mistakes give."""
    centered = x - x.mean(-1, keepdim=True)
    normal = centered / x.std(-1, keepdim=True, unbiased=False)

    def over(*axes: int) -> Tensor:
        return (x - x.mean(axes, keepdim=True)) / x.std(axes, keepdim=True, unbiased=False) * weight + bias

    return {
        "Your variance is divided by D - 1, torch's default. LayerNorm divides by D: unbiased=False.": (
            centered / x.std(-1, keepdim=True) * weight + bias
        ),
        "You divide by the variance. Divide by its square root, the standard deviation.": (
            centered / x.var(-1, keepdim=True, unbiased=False) * weight + bias
        ),
        "The sum of squares is not divided by D: the variance is their mean.": (
            centered / centered.square().sum(-1, keepdim=True).sqrt() * weight + bias
        ),
        "The mean is not subtracted. (RMSNorm leaves it out; LayerNorm does not.)": (
            x / x.square().mean(-1, keepdim=True).sqrt() * weight + bias
        ),
        "The mean is not subtracted, although the variance uses it.": (
            x / x.std(-1, keepdim=True, unbiased=False) * weight + bias
        ),
        "You normalize over the batch and the tokens, as BatchNorm does. Each token is normalized alone.": over(0, 1),
        "You normalize over the tokens. The D numbers of one token lie along the last axis.": over(1),
        "You normalize over the first axis. The D numbers of one token lie along the last axis.": over(0),
        "All tokens share one mean and one variance. Each token should have its own.": over(0, 1, 2),
        "weight and bias are missing.": normal,
        "bias is missing.": normal * weight,
        "weight is missing.": normal + bias,
        "The bias is scaled too: it comes after weight.": (normal + bias) * weight,
    }


def wrong_eps(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> dict[str, Tensor]:
    """What known mistakes give where eps counts."""
    centered, std = x - x.mean(-1, keepdim=True), x.std(-1, keepdim=True, unbiased=False)
    return {
        "eps is added to the standard deviation. It belongs below the root, beside the variance.": (
            centered / (std + eps) * weight + bias
        ),
        "eps is not used.": centered / std * weight + bias,
        "You use an eps of your own, not the argument.": reference(x, [x.size(-1)], weight, bias, 1e-12),
        "eps is squared below the root.": centered / (std**2 + eps**2).sqrt() * weight + bias,
    }


DRILL = Drill(
    name="layer-norm",
    title="LayerNorm by hand",
    minutes=6,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="02",
    section="LayerNorm with a pencil",
    hints=(
        "Mean and variance are over the last axis, with keepdim=True. By what does the variance divide, D or D - 1?",
        "centered = x - mean; variance = centered.square().mean(-1, keepdim=True); divide by sqrt(variance + eps).",
    ),
    examine=examine,
    without=("layer_norm", "group_norm"),
)
