"""Answers to the drill learning-rate: right ones, and mistakes with the words that they must hear."""

import math

import numpy as np
import torch


def two_branches(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return peak * max(0.0, (total_steps - step) / (total_steps - warmup_steps))


def interpolated(step, peak, warmup, total):
    return float(np.interp(step, [0, warmup, total], [0.0, peak, 0.0])) if warmup else peak * max(0, 1 - step / total)


def the_lower_of_two_lines(step, peak, warmup, total):
    rising = step / warmup if warmup > 0 else 1.0
    falling = (total - step) / (total - warmup)
    return torch.tensor(peak * max(0.0, min(rising, falling)), dtype=torch.float64)


def share_of_the_peak(step, peak, warmup, total):
    return two_branches(step, 1.0, warmup, total)


def never_falls(step, peak, warmup, total):
    return peak * min(1.0, step / max(warmup, 1))


def no_warmup(step, peak, warmup, total):
    return peak if step < warmup else two_branches(step, peak, warmup, total)


def as_google(step, peak, warmup, total):
    return peak * step / warmup if step < warmup else peak * (1 - step / total)


def over_all_steps(step, peak, warmup, total):
    return peak * step / warmup if step < warmup else peak * (1 - (step - warmup) / total)


def from_one(step, peak, warmup, total):
    return two_branches(step + 1, peak, warmup, total)


def a_cosine(step, peak, warmup, total):
    if step < warmup:
        return peak * step / warmup
    return peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2


def whole_numbers(step, peak, warmup, total):
    return peak * (step // warmup) if step < warmup else peak * ((total - step) // (total - warmup))


def divides_first(step, peak, warmup, total):
    return peak * max(0.0, min(step / warmup, (total - step) / (total - warmup)))


def below_zero(step, peak, warmup, total):
    return peak * step / warmup if step < warmup else peak * (total - step) / (total - warmup)


def noam(step, peak, warmup, total):
    return peak * step / warmup if step < warmup else peak * (warmup / step) ** 0.5


def a_list(step, peak, warmup, total):
    return [two_branches(each, peak, warmup, total) for each in range(total)]


ANSWERS = {
    "learning-rate": {
        "accepted": [two_branches, interpolated, the_lower_of_two_lines],
        "wrong": [
            (share_of_the_peak, "does not depend on `peak`"),
            (never_falls, "stays at the peak"),
            (no_warmup, "There is no warm-up"),
            (as_google, "jump at the end of the warm-up"),
            (over_all_steps, "end above 0"),
            (from_one, "You count from 1"),
            (a_cosine, "a cosine decay"),
            (whole_numbers, "whole-number division"),
            (divides_first, "nothing to divide by"),
            (below_zero, "a negative learning rate"),
            (noam, "square root of the step"),
            (a_list, "one number"),
        ],
    },
}
