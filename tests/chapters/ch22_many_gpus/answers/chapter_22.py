"""Answers to the exercises of chapter 22: right ones, and mistakes with the words that they must hear."""

from fractions import Fraction

import torch

from bertedu.chapters.ch22_many_gpus.exercises.chapter_22 import rule


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


def scaled(scale, clean_steps, finite, interval):
    if finite:
        clean_steps += 1
        grow = clean_steps == interval
        return True, scale * (2 if grow else 1), 0 if grow else clean_steps
    return [False, scale * 0.5, 0]


def scaled_by_remainder(scale, clean_steps, finite, interval):
    count = (clean_steps + 1) % interval if finite else 0
    return finite, scale / 2 if not finite else scale * 2 if count == 0 else scale, count


def takes_it_anyway(scale, clean_steps, finite, interval):
    return True, *rule(scale, clean_steps, finite, interval)[1:]


def grows_on_overflow(scale, clean_steps, finite, interval):
    return (False, scale * 2, 0) if not finite else rule(scale, clean_steps, finite, interval)


def one_late(scale, clean_steps, finite, interval):
    if not finite:
        return False, scale / 2, 0
    return (True, scale * 2, 0) if clean_steps == interval else (True, scale, clean_steps + 1)


def never_resets(scale, clean_steps, finite, interval):
    taken, following, _ = rule(scale, clean_steps, finite, interval)
    return taken, following, clean_steps + 1


def keeps_the_count(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, count if finite else clean_steps


def grows_each_time(scale, clean_steps, finite, interval):
    return (True, scale * 2, 0) if finite else (False, scale / 2, 0)


def scaled_by_tensors(scale, clean_steps, finite, interval):
    clean = torch.tensor(clean_steps + 1) * finite
    full = clean == interval
    factor = torch.where(torch.tensor(finite), torch.where(full, 2.0, 1.0), 0.5)
    return torch.tensor(finite), scale * factor, torch.where(full, 0, clean)


def count_by_and(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, finite and count


def scale_first(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return following, count, taken


def count_second(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, count, following


def in_words(scale, clean_steps, finite, interval):
    return "take it" if finite else "skip it", *rule(scale, clean_steps, finite, interval)[1:]


def skips_instead(scale, clean_steps, finite, interval):
    return not finite, *rule(scale, clean_steps, finite, interval)[1:]


def always_two_thousand(scale, clean_steps, finite, interval):
    return rule(scale, clean_steps, finite, 2000)


def halved_downwards(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following if finite else scale // 2, count


def never_below_one(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, max(following, 1.0), count


def never_above(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, min(following, 65536.0), count


def shrinks_when_complete(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, scale / 2 if following > scale else following, count


def counts_the_bad_step(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, count if finite else 1


def never_counts(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, min(count, clean_steps)


def starts_at_one(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, count or int(finite)


def only_two(scale, clean_steps, finite, interval):
    return rule(scale, clean_steps, finite, interval)[1:]


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
    },
    "22.2": {
        "accepted": [scaled, scaled_by_remainder, scaled_by_tensors, count_by_and],
        "wrong": [
            (takes_it_anyway, "every weight infinite or nan"),
            (grows_on_overflow, "Should S grow"),
            (one_late, "the next S is 1,024 and should be 2,048. This step counts, too"),
            (never_resets, "starts again at zero"),
            (keeps_the_count, "end here: zero"),
            (grows_each_time, "in a row, not after each one"),
            (scale_first, "Return three things in this order"),
            (count_second, "should be the next S, and 1 is the count"),
            (in_words, "should be True or False"),
            (skips_instead, "so the optimizer can use them"),
            (always_two_thousand, "not a fixed number"),
            (halved_downwards, "`//` rounds down"),
            (never_below_one, "has no smallest S"),
            (never_above, "has no largest S"),
            (shrinks_when_complete, "S does not get smaller"),
            (counts_the_bad_step, "not a clean one"),
            (never_counts, "has not been counted"),
            (starts_at_one, "does not count for the new S"),
            (only_two, "returned 2 things"),
        ],
    },
}
