"""Answers to exercise 21.1: right ones, and mistakes with the words that they must hear."""

import math
import statistics
from statistics import mean, pstdev, pvariance, stdev, variance

import numpy as np
import torch


def plainly(scores, one, other):
    several = [values for values in scores.values() if len(values) > 1]
    squares = sum((len(values) - 1) * variance(values) for values in several)
    s = math.sqrt(squares / sum(len(values) - 1 for values in several))
    difference = mean(scores[one]) - mean(scores[other])
    error = s * math.sqrt(1 / len(scores[one]) + 1 / len(scores[other]))
    return difference, error, abs(difference) > 2 * error


def in_a_loop(by_seed, first, second):
    squares, freedom = 0.0, 0
    for values in by_seed.values():
        middle = sum(values) / len(values)
        squares += sum((value - middle) ** 2 for value in values)
        freedom += len(values) - 1
    s = (squares / freedom) ** 0.5
    difference = sum(by_seed[first]) / len(by_seed[first]) - sum(by_seed[second]) / len(by_seed[second])
    error = s * (1 / len(by_seed[first]) + 1 / len(by_seed[second])) ** 0.5
    return [difference, error, difference > 2 * error or difference < -2 * error]


def with_numpy(scores, one, other):
    away = np.concatenate([np.array(values) - np.mean(values) for values in scores.values()])
    s = np.sqrt((away**2).sum() / (len(away) - len(scores)))
    a, b = np.array(scores[one]), np.array(scores[other])
    error = s * np.sqrt(1 / len(a) + 1 / len(b))
    return a.mean() - b.mean(), error, np.abs(a.mean() - b.mean()) > 2 * error


def with_torch(scores, one, other):
    tensors = {name: torch.tensor(values, dtype=torch.float64) for name, values in scores.items()}
    squares = sum((tensor - tensor.mean()).square().sum() for tensor in tensors.values())
    s = (squares / sum(len(tensor) - 1 for tensor in tensors.values())).sqrt()
    difference = tensors[one].mean() - tensors[other].mean()
    error = s * (1 / len(tensors[one]) + 1 / len(tensors[other])) ** 0.5
    return difference, error, difference.abs() > 2 * error


def told_with(deviation, spoil=None):
    """An answer with another s, or with its three results spoilt."""

    def answer(scores, one, other):
        a, b = scores[one], scores[other]
        s, difference = deviation(scores, a, b), mean(a) - mean(b)
        error = s * math.sqrt(1 / len(a) + 1 / len(b))
        right = difference, error, abs(difference) > 2 * error
        return spoil(right, s, len(a), len(b)) if spoil else right

    return answer


def several(scores):
    return [values for values in scores.values() if len(values) > 1]


def pooled(scores, a=None, b=None):
    freedom = sum(len(v) - 1 for v in several(scores))
    return math.sqrt(sum((len(v) - 1) * variance(v) for v in several(scores)) / freedom)


def of_population(scores, a, b):
    return math.sqrt(sum(len(v) * pvariance(v) for v in several(scores)) / sum(map(len, several(scores))))


def mean_of_population(scores, a, b):
    return mean(pstdev(v) for v in several(scores))


def mean_of_deviations(scores, a, b):
    return mean(stdev(v) for v in several(scores))


def equal_weights(scores, a, b):
    return math.sqrt(mean(variance(v) for v in several(scores)))


def weights_of_n(scores, a, b):
    return math.sqrt(sum(len(v) * variance(v) for v in several(scores)) / sum(map(len, several(scores))))


def thrown_together(scores, a, b):
    return stdev([x for values in scores.values() for x in values])


def of_the_two(scores, a, b):
    return pooled({"one": a, "other": b})


def summed(scores, a, b):
    return pooled(scores) * math.sqrt(sum(len(v) - 1 for v in several(scores)))


def centred_together(scores, a, b):
    return stdev([x - mean(v) for v in scores.values() for x in v])


def crashes_on_one(scores, a, b):
    return pooled(scores) if len(several(scores)) == len(scores) else math.sqrt(sum(map(variance, scores.values())))


def of_three_seeds(scores, a, b):
    return pooled({name: values for name, values in scores.items() if len(values) > 2})


def of_the_others(scores, a, b):
    return pooled({name: values for name, values in scores.items() if values not in (a, b)})


def of_the_means(scores, a, b):
    return stdev(mean(values) for values in scores.values())


def not_a_number(scores, a, b):
    return pooled(scores) if len(several(scores)) == len(scores) else math.nan  # as torch's var of a single score is


def one_seed_counts(scores, a, b):
    squares = sum((len(v) - 1) * variance(v) for v in several(scores))
    singles = sum(len(v) == 1 for v in scores.values())
    return math.sqrt(squares / (sum(len(v) - 1 for v in several(scores)) + singles))


def divided_by_all(scores, a, b):
    if len(several(scores)) == len(scores):
        return pooled(scores)
    squares = sum((len(v) - 1) * variance(v) for v in several(scores))
    return math.sqrt(squares / sum(map(len, scores.values())))


def zero_for_one(scores, a, b):
    if len(several(scores)) == len(scores):
        return pooled(scores)
    return math.sqrt(sum(variance(v) if len(v) > 1 else 0.0 for v in scores.values()) / len(scores))


of_a_single_run = told_with(pooled, lambda right, s, n, m: (right[0], s, abs(right[0]) > 2 * s))
only_the_first = told_with(pooled, lambda right, s, n, m: (right[0], s / n**0.5, True))
only_the_second = told_with(pooled, lambda right, s, n, m: (right[0], s / m**0.5, True))
of_the_sum = told_with(pooled, lambda right, s, n, m: (right[0], s / (n + m) ** 0.5, True))
rootless = told_with(pooled, lambda right, s, n, m: (right[0], s * (1 / n + 1 / m), True))
errors_added = told_with(pooled, lambda right, s, n, m: (right[0], s / n**0.5 + s / m**0.5, True))
by_variance = told_with(lambda scores, a, b: pooled(scores) ** 2)
doubled = told_with(pooled, lambda right, s, n, m: (right[0], 2 * right[1], right[2]))
sign_lost = told_with(pooled, lambda right, s, n, m: (abs(right[0]), *right[1:]))
sign_swapped = told_with(pooled, lambda right, s, n, m: (-right[0], *right[1:]))
one_sided = told_with(pooled, lambda right, s, n, m: (*right[:2], right[0] > 2 * right[1]))
one_error = told_with(pooled, lambda right, s, n, m: (*right[:2], abs(right[0]) > right[1]))
never = told_with(pooled, lambda right, s, n, m: (*right[:2], False))
three_errors = told_with(pooled, lambda right, s, n, m: (*right[:2], abs(right[0]) > 3 * right[1]))
student = told_with(pooled, lambda right, s, n, m: (*right[:2], abs(right[0]) > 2.36 * right[1]))  # t, 7 degrees
two_deviations = told_with(pooled, lambda right, s, n, m: (*right[:2], abs(right[0]) > 2 * s))
close_to_two = told_with(pooled, lambda right, s, n, m: (*right[:2], abs(right[0]) > 1.96 * right[1]))
fewer_runs = told_with(pooled, lambda right, s, n, m: (right[0], s * math.sqrt(1 / (n - 1) + 1 / (m - 1)), True))
in_words = told_with(pooled, lambda right, s, n, m: (*right[:2], "yes" if right[2] else "no"))
only_told = told_with(pooled, lambda right, s, n, m: right[2])


def medians(scores, one, other):
    difference = statistics.median(scores[one]) - statistics.median(scores[other])
    return (difference, *plainly(scores, one, other)[1:])


def best_seeds(scores, one, other):
    return (max(scores[one]) - max(scores[other]), *plainly(scores, one, other)[1:])


def letters(scores, one, other):
    difference, _, told = plainly(scores, one, other)
    return difference, pooled(scores) * math.sqrt(1 / len(one) + 1 / len(other)), told


def number_of_members(scores, one, other):
    difference, _, told = plainly(scores, one, other)
    return difference, pooled(scores) * math.sqrt(2 / len(scores)), told


def pairs_of_seeds(scores, one, other):
    difference = mean(a - b for a, b in zip(scores[one], scores[other]))  # noqa: B905
    return (difference, *plainly(scores, one, other)[1:])


def first_seeds(scores, one, other):
    return (scores[one][0] - scores[other][0], *plainly(scores, one, other)[1:])


def always_bert(scores, one, other):
    return plainly(scores, one, "bert")


def of_names(scores, one, other):
    return np.mean(one) - np.mean(other), 0.0, False


def methods_of_lists(scores, one, other):
    return scores[one].mean() - scores[other].mean(), 0.0, False


def lists_subtracted(scores, one, other):
    return mean(scores[one] - scores[other]), 0.0, False


def arrays_subtracted(scores, one, other):
    return (np.array(scores[one]) - np.array(scores[other])).mean(), 0.0, False


def names_alone(scores, one, other):
    deviations = [stdev(values) for name, values in scores]
    return 0.0, mean(deviations), False


ANSWERS = {
    "21.1": {
        "accepted": [plainly, in_a_loop, with_numpy, with_torch],
        "wrong": [
            (told_with(of_population), "population variance"),
            (told_with(mean_of_population), "population variance"),
            (told_with(mean_of_deviations), "mean of the standard deviations"),
            (told_with(equal_weights), "weigh the same here"),
            (told_with(weights_of_n), "weights are n − 1"),
            (told_with(thrown_together), "differences between the members"),
            (told_with(of_the_two), "these two members alone"),
            (told_with(summed), "not averaged"),
            (told_with(centred_together), "Divide their squares"),
            (told_with(crashes_on_one), "leave it out of s"),
            (told_with(one_seed_counts), "leave it out of s"),
            (told_with(zero_for_one), "leave it out of s"),
            (told_with(divided_by_all), "population variance"),
            (of_a_single_run, "of a single run"),
            (only_the_first, "the first mean alone"),
            (only_the_second, "the second mean alone"),
            (of_the_sum, "divided by n + m"),
            (rootless, "The root of"),
            (errors_added, "their squares do"),
            (by_variance, "with the variance"),
            (doubled, "one standard error"),
            (sign_lost, "sign tells who"),
            (sign_swapped, "sign tells who"),
            (one_sided, "the absolute value"),
            (one_error, "Two are asked for"),
            (never, "limit is always 2"),
            (three_errors, "limit is always 2"),
            (student, "limit is always 2"),
            (two_deviations, "Compare with two errors"),
            (close_to_two, "The limit of 1.96"),
            (told_with(of_three_seeds), "with two seeds belongs"),
            (told_with(of_the_others), "pool all members"),
            (told_with(of_the_means), "of *one* member"),
            (letters, "letters of a name"),
            (fewer_runs, "belong to s"),
            (number_of_members, "its own number of runs"),
            (pairs_of_seeds, "end of the shorter list"),
            (first_seeds, "first seeds alone"),
            (always_bert, "always subtract bert"),
            (of_names, "not a list of scores"),
            (methods_of_lists, "no such method"),
            (lists_subtracted, "take the mean of each first"),
            (arrays_subtracted, "take the mean of each first"),
            (names_alone, "gives only the names"),
            (told_with(not_a_number), "leave it out of s"),
            (in_words, "True or False"),
            (only_told, "3 things are asked for"),
            (medians, "Take the means"),
            (best_seeds, "luck: take the means"),
        ],
    },
}
