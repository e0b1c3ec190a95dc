"""Exercise 2.3: LayerNorm in three lines."""

import torch
from torch import Tensor
from torch.nn.functional import layer_norm as reference_layer_norm

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "2.3",
    "LayerNorm in three lines",
    difficulty=2,
    minutes=15,
    without=("layer_norm", "group_norm", "instance_norm", "batch_norm", "rms_norm"),
    hints=(
        "The D numbers of one token lie along the last axis. You need their mean and variance, with keepdim=True.",
        "Compute centred = x - mean and variance = mean of centred². "
        "Then return centred / √(variance + eps) * weight + bias.",
    ),
)
def layer_norm(case: Case) -> None:
    """The formula with the right axis and every detail, on three kinds of vectors."""
    x, weight, bias = case.randn(2, 3, 8) * 3 + 5, case.randn(8), case.randn(8)
    expected = reference_layer_norm(x, [8], weight, bias, 1e-12)
    case.causes = {
        "must match the size": "The mean of x over its last axis has the shape [2, 3] and does not broadcast against "
        "[2, 3, 8]. `keepdim=True` makes it [2, 3, 1].",
    }
    got = case.call(x, weight, bias, 1e-12, tried="2 texts of 3 tokens with D = 8")
    case.same_shape("the result", got, [2, 3, 8], "LayerNorm changes the numbers, never the shape.")
    mistakes = wrong_norms(x, weight, bias)
    case.close(
        "the result", got, expected, "Use the mean and the variance of the D numbers of each token.", mistakes=mistakes
    )
    edge_of_eps(case, weight, bias)
    alike = torch.full((1, 1, 8), 3.0)
    got = case.call(alike, weight, bias, 1e-12, tried="a vector of eight equal numbers")
    case.close("the result", got, bias[None, None], "No number differs from the mean, so only the bias is left.")
    case.gradient_flows(x, weight, bias, names=("x", "weight", "bias"), tried="2 texts of 3 tokens", eps=1e-12)


def wrong_norms(x: Tensor, weight: Tensor, bias: Tensor) -> dict[str, Tensor]:
    """What each known mistake returns, by the sentence that explains it."""
    centred = x - x.mean(-1, keepdim=True)

    def over(*axes: int) -> Tensor:
        return (x - x.mean(axes, keepdim=True)) / x.var(axes, keepdim=True, unbiased=False).sqrt() * weight + bias

    normal = centred / x.std(-1, keepdim=True, unbiased=False)
    return {
        "Your sum of squares is divided by D - 1. LayerNorm divides by D; torch's var and std do that only with "
        "correction=0 or unbiased=False.": centred / x.std(-1, keepdim=True) * weight + bias,
        "Your sum of squares is not divided by D. The variance is the mean of the squares.": centred
        / centred.square().sum(-1, keepdim=True).sqrt()
        * weight
        + bias,
        "You normalized over the tokens of a text. LayerNorm treats each token alone: which axis holds its "
        "D numbers?": over(1),
        "You normalized over the batch. Which axis holds the D numbers of one token?": over(0),
        "You normalized each column over all tokens of the batch, as BatchNorm does. Which axis holds the D numbers "
        "of one token?": over(0, 1),
        "All numbers share one mean and one variance here. Each token should have its own.": over(0, 1, 2),
        "All tokens of a text share one mean and one variance here. Each token should have its own.": over(1, 2),
        "The vectors are normalized, but weight and bias are missing.": normal,
        "The bias is missing.": normal * weight,
        "The weight is missing.": normal + bias,
        "You divide by the variance. LayerNorm divides by its root, the standard deviation.": centred
        / x.var(-1, keepdim=True, unbiased=False)
        * weight
        + bias,
        "The mean is not subtracted.": x / x.std(-1, keepdim=True, unbiased=False) * weight + bias,
        "The mean is subtracted, but nothing is divided by the standard deviation.": centred * weight + bias,
    }


def edge_of_eps(case: Case, weight: Tensor, bias: Tensor) -> None:
    """A large eps and small numbers: the result shows where eps was added."""
    small = case.randn(1, 2, 8) * 0.1
    centred, std = small - small.mean(-1, keepdim=True), small.std(-1, keepdim=True, unbiased=False)
    mistakes = {
        "eps is added to the standard deviation. LayerNorm adds it to the variance, inside the root.": centred
        / (std + 0.1)
        * weight
        + bias,
        "eps is not used. It prevents a division by 0 when all D numbers are equal.": centred / std * weight + bias,
        "You use a constant in place of eps. Use the argument.": centred / (std.square() + 1e-5).sqrt() * weight + bias,
    }
    got = case.call(small, weight, bias, 0.1, tried="small numbers with a large eps of 0.1")
    expected = reference_layer_norm(small, [8], weight, bias, 0.1)
    case.close("the result", got, expected, "Where exactly is eps added?", mistakes=mistakes)
