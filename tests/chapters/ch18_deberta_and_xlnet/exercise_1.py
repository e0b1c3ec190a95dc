"""Answers to exercise 18.1: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch


def broadcast(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions[None, :] + span).clamp(0, 2 * span - 1)


def with_loops(length, span):
    return torch.tensor([[min(max(i - j + span, 0), 2 * span - 1) for j in range(length)] for i in range(length)])


def plain_lists(length, span):
    return [[min(max(i - j + span, 0), 2 * span - 1) for j in range(length)] for i in range(length)]


def clamped_first(length, span):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return (i - j).clamp(-span, span - 1) + span


def with_numpy(length, span):
    positions = np.arange(length)
    return np.clip(np.subtract.outer(positions, positions) + span, 0, 2 * span - 1)


def swapped_and_one_too_many(length, span):
    return one_too_many(length, span).flip(0, 1)


def swapped(length, span):
    return broadcast(length, span).T


def unclamped(length, span):
    positions = torch.arange(length)
    return positions[:, None] - positions + span


def without_span(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions).clamp(0, 2 * span - 1)


def span_after_clamp(length, span):
    return without_span(length, span) + span


def without_sign(length, span):
    positions = torch.arange(length)
    return ((positions[:, None] - positions).abs() + span).clamp(0, 2 * span - 1)


def one_too_many(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions + span).clamp(0, 2 * span)


def half_a_table(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions + span).clamp(0, span - 1)


def length_as_span(length, span):
    return broadcast(length, length)


def one_row(length, span):
    return torch.arange(-length + 1, length).add(span).clamp(0, 2 * span - 1)


def in_floats(length, span):
    return broadcast(length, span).float()


def sizes_by_heart(length, span):
    positions = torch.arange(6)
    return (positions[:, None] - positions + 3).clamp(0, 5)


def around(length, span):
    return unclamped(length, span) % (2 * span)


def clamped_distances(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions).clamp(-span, span - 1)


def from_one(length, span):
    return unclamped(length, span).clamp(1, 2 * span)


ANSWERS = {
    "18.1": {
        "accepted": [broadcast, with_loops, plain_lists, clamped_first, with_numpy],
        "wrong": [
            (swapped, "row and column are swapped"),
            (unclamped, "Nothing is clamped"),
            (without_span, "Distance 0 should get row s"),
            (span_after_clamp, "First add, then clamp"),
            (without_sign, "sign of the distance is lost"),
            (one_too_many, "no row 2s"),
            (half_a_table, "as if it had s"),
            (length_as_span, "length as the span"),
            (one_row, "Each *pair* of tokens"),
            (in_floats, "numbered by integers"),
            (sizes_by_heart, "no number from the first call"),
            (around, "not start again"),
            (clamped_distances, "starts at 0"),
            (from_one, "numbered from 0: the table's first row"),
            (swapped_and_one_too_many, "And the largest row should be 2s − 1"),
        ],
    }
}
