"""Answers to exercise 23.1: right ones, and mistakes with the words that they must hear."""

import torch

# 23.1 ----------------------------------------------------------------------------------------------------------------


def by_columns(weights):
    scales = weights.abs().amax(dim=0).clamp_min(1e-8) / 127
    return (weights / scales).round().to(torch.int8), scales


def column_by_column(matrix):
    numbers, scales = torch.zeros(matrix.shape, dtype=torch.int8), []
    for column in range(matrix.shape[1]):
        scale = matrix[:, column].abs().max().item() / 127 or 1.0
        numbers[:, column] = torch.round(matrix[:, column] / scale)
        scales.append(scale)
    return numbers, torch.tensor(scales)


def with_kept_axis(weights):
    largest = weights.abs().max(dim=0, keepdim=True).values
    scales = torch.where(largest > 0, largest / 127, 1.0)
    return [torch.clamp(torch.round(weights / scales), -127, 127).to(torch.int8), scales]


def scaled_by(scales_of, finish=torch.round, dtype=torch.int8):
    def quantize(weights):
        scales = scales_of(weights)
        return finish(weights / scales).to(dtype), scales

    return quantize


def largest(weights):
    return weights.abs().amax(dim=0).clamp_min(1e-8) / 127


one_for_all = scaled_by(lambda w: w.abs().max() / 127)


by_rows = scaled_by(lambda w: w.abs().amax(dim=1, keepdim=True) / 127)


with_the_sign = scaled_by(lambda w: w.amax(dim=0) / 127)


by_128 = scaled_by(lambda w: w.abs().amax(dim=0) / 128)


by_255 = scaled_by(lambda w: w.abs().amax(dim=0) / 255)


by_range = scaled_by(lambda w: (w.amax(dim=0) - w.amin(dim=0)) / 255)


truncated = scaled_by(largest, finish=lambda x: x)


still_floats = scaled_by(largest, dtype=torch.float32)


zeros_divided = scaled_by(lambda w: w.abs().amax(dim=0) / 127)


def zero_scale_kept(weights):
    scales = weights.abs().amax(dim=0) / 127
    return torch.where(scales > 0, weights / scales, 0.0).round().to(torch.int8), scales


def high_floor(weights):
    scales = (weights.abs().amax(dim=0) / 127).clamp_min(1e-3)
    return (weights / scales).round().to(torch.int8), scales


def scales_first(weights):
    return by_columns(weights)[::-1]


inverse = scaled_by(lambda w: 127 / w.abs().amax(dim=0))


undivided = scaled_by(lambda w: w.abs().amax(dim=0))


def only_numbers(weights):
    return by_columns(weights)[0]


ANSWERS = {
    "23.1": {
        "accepted": [by_columns, column_by_column, with_kept_axis],
        "wrong": [
            (one_for_all, "one scale for the whole matrix"),
            (by_rows, "a scale for each row"),
            (with_the_sign, "with its sign"),
            (by_128, "ends at 127"),
            (by_255, "serve both signs"),
            (by_range, "a zero point"),
            (truncated, "cuts off the decimals"),
            (still_floats, "Four bytes a number"),
            (zeros_divided, "no rule says"),
            (zero_scale_kept, "isn't above 0"),
            (high_floor, "far smaller than any weight"),
            (scales_first, "integers come first"),
            (inverse, "This is 1 / scale"),
            (undivided, "largest absolute value itself"),
            (only_numbers, "2 things are asked for"),
        ],
    }
}
