"""Exercise 23.1: One scale for each column."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

STEPS = 127  # of a positive int8 number


@exercise(
    "23.1",
    "One scale for each column",
    difficulty=2,
    minutes=10,
    hints=(
        "The largest absolute value of a column becomes 127. Which axis of [in, out] do you take the maximum over?",
        "weights.abs().amax(dim=…) has a number for each column. Keep it above 0, divide it by 127: the scales. "
        "Then divide the weights by them, round, and only then .to(torch.int8).",
    ),
)
def quantize_columns(case: Case) -> None:
    weights = case.randn(6, 4) * torch.tensor([0.1, 1.0, 10.0, 0.5])
    weights[2, 0], weights[3, 1] = -0.9, 5.0  # the largest of column 0 is negative
    result = case.call(weights, tried="a matrix of 6 rows and 4 columns")
    numbers, scales = case.parts(result, "integers", "scales")
    if isinstance(numbers, Tensor) and isinstance(scales, Tensor) and numbers.numel() == 4 and scales.numel() == 24:
        case.fail("But the first part has 4 numbers and the second 24: the integers come first, then the scales.")
    case.same_shape("integers", numbers, [6, 4])
    scales = scales_by_column(case, scales, weights)
    right = weights.abs().amax(dim=0) / STEPS
    mistakes = {
        "This is the largest value with its sign. In column 0 the largest absolute value is a negative weight.": (
            weights.amax(dim=0) / STEPS
        ),
        "That is the largest absolute value itself. It becomes 127: what is the step between two integers?": right
        * STEPS,
        "This is 1 / scale: weight ≈ scale · integer, so a larger weight needs a larger scale.": 1 / right,
        "An int8 number ends at 127: divided by this scale, the largest weight would be 128.": (right * STEPS / 128),
        "255 steps have to serve both signs: from -127 to 127. The largest absolute value becomes 127.": (
            right * STEPS / 255
        ),
        "The range from the smallest to the largest value belongs to a zero point. Here zero stays zero.": (
            (weights.amax(dim=0) - weights.amin(dim=0)) / 255
        ),
    }
    case.close("scales", scales, right, "The largest absolute value of a column becomes 127.", mistakes=mistakes)
    case.dtype("integers", numbers, torch.int8, "Four bytes a number are what we want to get rid of: .to(torch.int8).")
    exact = weights / right
    if not torch.equal(numbers, exact.round().to(torch.int8)):
        if torch.equal(numbers, exact.to(torch.int8)):
            case.almost("`.to(torch.int8)` cuts off the decimals: round first, or the error doubles.")
        case.fail("But numbers times scales is not as near to the weights as it could be: divide by the scale, round.")
    case.expect(not torch.equal(weights, numbers * scales), "But the numbers are not rounded.")
    small = torch.tensor([[0.0, 2e-4], [0.0, -1e-4]])
    result = case.call(small, tried="a matrix with a column of zeros and one of tiny weights")
    numbers, scales = case.parts(result, "integers", "scales")
    back = numbers.float() * scales.reshape(-1).float()
    case.expect(
        bool((scales > 0).all()) and bool(torch.isfinite(back).all()) and not bool(back[:, 0].any()),
        "But the scale of the column of zeros isn't above 0. Divided by 0, a zero is nan, and no rule says which int8 "
        "number that becomes.",
        "Keep scales away from 0, with clamp_min for example: zeros must come back as zeros.",
    )
    case.expect(
        numbers[0, 1].item() == STEPS,
        f"But the largest weight of the other column, 0.0002, became {numbers[0, 1].item()} and not 127.",
        "What keeps scales away from 0 must be far smaller than any weight.",
    )
    case.close_with("An outlier now costs its own column precision, and no other one.")


def scales_by_column(case: Case, scales: Tensor, weights: Tensor) -> Tensor:
    """The scales as [out]; one for all, or one a row, ends the check in words."""
    case.is_a("scales", scales, Tensor, "a tensor")
    rows, columns = weights.shape
    if scales.numel() == 1:
        case.fail("But there is one scale for the whole matrix: its largest weight decides for all columns.")
    if scales.numel() == rows:
        case.fail("But there is a scale for each row. Each output is computed from one column: that is where it fits.")
    case.expect(
        scales.numel() == columns, f"But there are {scales.numel()} scales, and {columns} columns: one for each."
    )
    return scales.reshape(-1)
