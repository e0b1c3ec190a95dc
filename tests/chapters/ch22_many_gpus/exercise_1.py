"""Answers to exercise 22.1: right ones, and mistakes with the words that they must hear."""

from fractions import Fraction

import torch


def by_formula(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * (rows * inner + inner * columns + rows * columns))


def by_tensors(rows, inner, columns, size):
    shapes = torch.tensor([[rows, inner], [inner, columns], [rows, columns]], dtype=torch.double)
    return 2.0 * rows * inner * columns / (shapes.prod(1).sum() * size).item()


def one_operation(rows, inner, columns, size):
    return by_formula(rows, inner, columns, size) / 2


def each_number(rows, inner, columns, size):
    return by_formula(rows, inner, columns, 1)


def only_read(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * (rows * inner + inner * columns))


def upside_down(rows, inner, columns, size):
    return 1 / by_formula(rows, inner, columns, size)


def each_time_anew(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * 2 * rows * inner * columns)


def only_operations(rows, inner, columns, size):
    return 2 * rows * inner * columns


def by_fractions(rows, inner, columns, size):
    return 2 / (size * (Fraction(1, rows) + Fraction(1, inner) + Fraction(1, columns)))


def fixed_at_four(rows, inner, columns, size):
    return by_formula(rows, inner, columns, 4)


def in_bits(rows, inner, columns, size):
    return by_formula(rows, inner, columns, 8 * size)


def without_parentheses(rows, inner, columns, size):
    return 2 * rows * inner * columns / size * (rows * inner + inner * columns + rows * columns)


def size_of_the_first(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * rows * inner + inner * columns + rows * columns)


def lengths_added(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * (rows + inner + columns))


def one_for_each_result(rows, inner, columns, size):
    return 2 * rows * columns / (size * (rows * inner + inner * columns + rows * columns))


def without_first_addition(rows, inner, columns, size):
    return by_formula(rows, inner, columns, size) * (2 * inner - 1) / (2 * inner)


def without_first_matrix(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * (inner * columns + rows * columns))


def rounded_down(rows, inner, columns, size):
    return by_formula(rows, inner, columns, size) // 1


def both_parts(rows, inner, columns, size):
    return 2 * rows * inner * columns, size * (rows * inner + inner * columns + rows * columns)


def only_rows(rows, inner, columns, size):
    return by_formula(rows, rows, rows, size)


ANSWERS = {
    "22.1": {
        "accepted": [by_formula, by_tensors, by_fractions],
        "wrong": [
            (one_operation, "two operations"),
            (each_number, "a number has several bytes"),
            (only_read, "The result is written, too"),
            (upside_down, "the other way round"),
            (each_time_anew, "stays near the processor"),
            (only_operations, "Divide by the bytes"),
            (fixed_at_four, "Here a number takes 2 bytes"),
            (in_bits, "not in bits"),
            (without_parentheses, "from left to right"),
            (size_of_the_first, "all three matrices"),
            (lengths_added, "multiply, do not add"),
            (one_for_each_result, "a sum over `inner` products"),
            (without_first_addition, "Every multiplication counts with an addition"),
            (without_first_matrix, "The first matrix is missing"),
            (rounded_down, "`//` rounds down"),
            (both_parts, "should be a single number, and it is (480, 496)"),
            (only_rows, "480 operations, and 24 + 60 + 40 numbers"),
        ],
    }
}
