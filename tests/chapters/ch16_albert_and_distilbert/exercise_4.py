"""Answers to exercise 16.4: right ones, and mistakes with the words that they must hear."""

import math

import numpy as np
import torch


def rounded(of_teacher, of_student):
    step = (of_teacher - 1) / max(1, of_student - 1)
    return [round(number * step) for number in range(of_student)]


def with_numpys_numbers(of_teacher, of_student):
    return list(np.linspace(0, of_teacher - 1, of_student).round().astype(int))


def with_torchs_numbers(of_teacher, of_student):
    return list(torch.linspace(0, of_teacher - 1, of_student).round().long())


def with_linspace(of_teacher, of_student):
    return np.linspace(0, of_teacher - 1, of_student).round().astype(int)


def in_whole_numbers(of_teacher, of_student):
    if of_student == 1:
        return (0,)
    return tuple(math.floor(n * (of_teacher - 1) / (of_student - 1) + 0.5) for n in range(of_student))


def every_second(of_teacher, of_student):
    return list(range(0, of_teacher, of_teacher // of_student))


def every_second_from_one(of_teacher, of_student):
    return list(range(1, of_teacher, of_teacher // of_student))


def rounded_down(of_teacher, of_student):
    return [n * (of_teacher - 1) // max(1, of_student - 1) for n in range(of_student)]


def twos_and_the_last(of_teacher, of_student):
    return [of_teacher // of_student * n for n in range(of_student - 1)] + [of_teacher - 1]


def rounded_up(of_teacher, of_student):
    return [math.ceil(n * (of_teacher - 1) / max(1, of_student - 1)) for n in range(of_student)]


def counted_from_one(of_teacher, of_student):
    return [number + 1 for number in rounded(of_teacher, of_student)]


def to_twelve(of_teacher, of_student):
    return [round(number * of_teacher / (of_student - 1)) for number in range(of_student)]


def the_first(of_teacher, of_student):
    return list(range(of_student))


def the_last(of_teacher, of_student):
    return list(range(of_teacher - of_student, of_teacher))


def not_rounded(of_teacher, of_student):
    return [number * (of_teacher - 1) / max(1, of_student - 1) for number in range(of_student)]


def by_heart(of_teacher, of_student):
    return [0, 2, 4, 7, 9, 11]


def divides_by_zero(of_teacher, of_student):
    return [round(number * (of_teacher - 1) / (of_student - 1)) for number in range(of_student)]


def last_of_one(of_teacher, of_student):
    return rounded(of_teacher, of_student) if of_student > 1 else [of_teacher - 1]


ANSWERS = {
    "16.4": {
        "accepted": [rounded, with_linspace, in_whole_numbers, with_numpys_numbers, with_torchs_numbers],
        "wrong": [
            (every_second, "The last layer, 11, is not among them"),
            (every_second_from_one, "The first layer, 0, is not among them"),
            (rounded_down, "Did you round down"),
            (twos_and_the_last, "in steps of 2"),
            (rounded_up, "rounded up"),
            (counted_from_one, "Layers are counted from 0"),
            (to_twelve, "There is no layer 12"),
            (the_first, "the first six"),
            (the_last, "the last six"),
            (not_rounded, "round them"),
            (by_heart, "Compute it from the arguments"),
            (divides_by_zero, "It copies layer 0"),
            (last_of_one, "A student of one layer copies layer 0"),
        ],
    }
}
