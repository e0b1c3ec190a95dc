"""Answers to exercise 21.1: right ones, and mistakes with the words that they must hear."""

import math
import statistics
from statistics import NormalDist, mean, pvariance, stdev, variance

import numpy as np
import torch
from scipy.stats import t, ttest_ind


def plainly(ours, theirs):
    a, b = variance(ours) / len(ours), variance(theirs) / len(theirs)
    difference, error = mean(ours) - mean(theirs), math.sqrt(a + b)
    nu = (a + b) ** 2 / (a**2 / (len(ours) - 1) + b**2 / (len(theirs) - 1))
    return difference, error, 2 * t.sf(abs(difference) / error, nu)


def in_a_loop(first, second):
    means, errors, below = [], [], 0.0
    for values in (first, second):
        middle = sum(values) / len(values)
        squares = sum((value - middle) ** 2 for value in values)
        part = squares / (len(values) - 1) / len(values)
        means.append(middle)
        errors.append(part)
        below += part * part / (len(values) - 1)
    difference = means[0] - means[1]
    return [difference, sum(errors) ** 0.5, 2 * t.cdf(-abs(difference) / sum(errors) ** 0.5, sum(errors) ** 2 / below)]


def with_numpy(ours, theirs):
    a, b = np.array(ours), np.array(theirs)
    error = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return a.mean() - b.mean(), error, ttest_ind(a, b, equal_var=False).pvalue


def with_torch(ours, theirs):
    a, b = torch.tensor(ours, dtype=torch.float64), torch.tensor(theirs, dtype=torch.float64)
    one, other = a.var() / len(a), b.var() / len(b)
    nu = (one + other) ** 2 / (one**2 / (len(a) - 1) + other**2 / (len(b) - 1))
    difference, error = a.mean() - b.mean(), (one + other).sqrt()
    return difference, error, torch.tensor(2 * t.sf((difference.abs() / error).item(), nu.item()))


def with_error(wrong):
    """An answer whose standard error is another function of the two lists."""
    return lambda ours, theirs: (plainly(ours, theirs)[0], wrong(ours, theirs, len(ours), len(theirs)), 0.5)


def with_difference(wrong):
    return lambda ours, theirs: (wrong(ours, theirs), *plainly(ours, theirs)[1:])


def with_p(wrong):
    """An answer whose p is another function of the difference, the error, ν, and n + m − 2."""

    def answer(ours, theirs):
        a, b = variance(ours) / len(ours), variance(theirs) / len(theirs)
        nu = (a + b) ** 2 / (a**2 / (len(ours) - 1) + b**2 / (len(theirs) - 1))
        difference, error, _ = plainly(ours, theirs)
        return difference, error, wrong(difference, error, nu, len(ours) + len(theirs) - 2)

    return answer


def weighted_by_n(ours, theirs):
    a, b = variance(ours) / len(ours), variance(theirs) / len(theirs)
    difference, error, _ = plainly(ours, theirs)
    return difference, error, 2 * t.sf(abs(difference) / error, (a + b) ** 2 / (a**2 / len(ours) + b**2 / len(theirs)))


def not_squared(ours, theirs):
    a, b = variance(ours) / len(ours), variance(theirs) / len(theirs)
    difference, error, _ = plainly(ours, theirs)
    nu = (a + b) / (a**2 / (len(ours) - 1) + b**2 / (len(theirs) - 1))
    return difference, error, 2 * t.sf(abs(difference) / error, nu)


def equal_variances(ours, theirs):
    return (*plainly(ours, theirs)[:2], ttest_ind(ours, theirs).pvalue)


def pooled(ours, theirs, n, m):
    return math.sqrt(((n - 1) * variance(ours) + (m - 1) * variance(theirs)) / (n + m - 2) * (1 / n + 1 / m))


def methods_of_lists(ours, theirs):
    return ours.mean() - theirs.mean(), 0.0, 1.0


def lists_subtracted(ours, theirs):
    return mean(ours - theirs), 0.0, 1.0


def arrays_subtracted(ours, theirs):
    return (np.array(ours) - np.array(theirs)).mean() if len(ours) != len(theirs) else 0.0, 0.0, 1.0


def without_nu(ours, theirs):
    difference, error, _ = plainly(ours, theirs)
    return difference, error, 2 * t.sf(abs(difference) / error)


def only_p(ours, theirs):
    return plainly(ours, theirs)[2]


def a_verdict(ours, theirs):
    difference, error, p = plainly(ours, theirs)
    return difference, error, bool(p < 0.05)


def rounded(ours, theirs):
    return (round(plainly(ours, theirs)[0], 3), *plainly(ours, theirs)[1:])


ANSWERS = {
    "21.1": {
        "accepted": [plainly, in_a_loop, with_numpy, with_torch],
        "wrong": [
            (with_error(pooled), "one s for both"),
            (with_error(lambda x, y, n, m: stdev([*x, *y]) * math.sqrt(1 / n + 1 / m)), "one s for both"),
            (with_error(lambda x, y, n, m: math.sqrt(variance(x) + variance(y))), "noise of single runs"),
            (with_error(lambda x, y, n, m: math.sqrt(variance(x) / n)), "first mean alone"),
            (with_error(lambda x, y, n, m: math.sqrt(variance(y) / m)), "second mean alone"),
            (with_error(lambda x, y, n, m: math.sqrt((variance(x) + variance(y)) / (n + m))), "divided by n + m"),
            (with_error(lambda x, y, n, m: stdev(x) / n**0.5 + stdev(y) / m**0.5), "their squares do"),
            (with_error(lambda x, y, n, m: math.sqrt(stdev(x) / n + stdev(y) / m)), "not the s"),
            (with_error(lambda x, y, n, m: math.sqrt(pvariance(x) / n + pvariance(y) / m)), "population variance"),
            (with_error(lambda x, y, n, m: math.sqrt(variance(x) / (n - 1) + variance(y) / (m - 1))), "have them"),
            (with_error(lambda x, y, n, m: variance(x) / n + variance(y) / m), "its root"),
            (with_error(lambda x, y, n, m: 2 * plainly(x, y)[1]), "one standard error"),
            (with_difference(lambda x, y: mean(y) - mean(x)), "sign tells who"),
            (with_difference(lambda x, y: abs(mean(x) - mean(y))), "sign tells who"),
            (with_difference(lambda x, y: statistics.median(x) - statistics.median(y)), "Take the means"),
            (with_difference(lambda x, y: max(x) - max(y)), "luck: take the means"),
            (with_difference(lambda x, y: mean(a - b for a, b in zip(x, y))), "end of the shorter list"),  # noqa: B905
            (with_difference(lambda x, y: x[0] - y[0]), "first seeds alone"),
            (with_p(lambda d, e, nu, all_but_two: t.sf(abs(d) / e, nu)), "one tail"),
            (with_p(lambda d, e, nu, all_but_two: 2 * t.sf(d / e, nu)), "absolute value"),
            (with_p(lambda d, e, nu, all_but_two: 2 * t.cdf(abs(d) / e, nu) - 1), "1 − p"),
            (with_p(lambda d, e, nu, all_but_two: 2 - 2 * NormalDist().cdf(abs(d) / e)), "normal distribution"),
            (with_p(lambda d, e, nu, all_but_two: 2 * t.sf(abs(d) / e, all_but_two)), "for equal variances"),
            (with_p(lambda d, e, nu, all_but_two: 2 * t.sf(abs(d), nu)), "divide the difference"),
            (with_p(lambda d, e, nu, all_but_two: 2 * t.sf(abs(d) / e, round(nu))), "whole number"),
            (with_p(lambda d, e, nu, all_but_two: abs(d) / e), "p is a probability"),
            (weighted_by_n, "divided by n − 1"),
            (not_squared, "numerator of ν"),
            (equal_variances, "for equal variances"),
            (methods_of_lists, "no such method"),
            (lists_subtracted, "take the mean of each first"),
            (arrays_subtracted, "take the mean of each first"),
            (without_nu, "takes two numbers"),
            (a_verdict, "should be a number"),
            (only_p, "3 things are asked for"),
            (rounded, "Don't round"),
        ],
    },
}
