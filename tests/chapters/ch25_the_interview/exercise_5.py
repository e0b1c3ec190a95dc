"""Answers to exercise 25.5: right ones, and mistakes with the words that they must hear."""

import math

import numpy

# 25.5 ------------------------------------------------------------------------------------------------------------


def ceiling(queries, candidates, tokens, weights, flops):
    return math.ceil(2 * weights * tokens * queries * candidates / flops)


def by_division(queries, candidates, tokens, weights, flops):
    whole, rest = divmod(2 * queries * candidates * tokens * weights, flops)
    return int(whole) + (rest > 0)


def in_numpy_too(queries, candidates, tokens, weights, flops):
    return numpy.int64(ceiling(queries, candidates, tokens, weights, flops))


def without_queries(queries, candidates, tokens, weights, flops):
    return math.ceil(2 * weights * tokens * candidates / flops)


def tokens_squared(queries, candidates, tokens, weights, flops):
    return math.ceil(2 * weights * tokens**2 * queries * candidates / flops)


def not_rounded(queries, candidates, tokens, weights, flops):
    return 2 * weights * tokens * queries * candidates / flops


def rounded_down(queries, candidates, tokens, weights, flops):
    return int(2 * weights * tokens * queries * candidates / flops)


def one_more(queries, candidates, tokens, weights, flops):
    return rounded_down(queries, candidates, tokens, weights, flops) + 1


def one_operation(queries, candidates, tokens, weights, flops):
    return math.ceil(weights * tokens * queries * candidates / flops)


def training(queries, candidates, tokens, weights, flops):
    return math.ceil(6 * weights * tokens * queries * candidates / flops)


def without_tokens(queries, candidates, tokens, weights, flops):
    return math.ceil(2 * weights * queries * candidates / flops)


def without_candidates(queries, candidates, tokens, weights, flops):
    return math.ceil(2 * weights * queries * tokens / flops)


ANSWERS = {
    "25.5": {
        "accepted": [ceiling, by_division, in_numpy_too],
        "wrong": [
            (not_rounded, "You can only rent whole GPUs"),
            (rounded_down, "These GPUs are too few"),
            (one_more, "one too many if the division has no remainder"),
            (one_operation, "2 operations"),
            (training, "There is no backward pass here"),
            (without_queries, "The queries are missing"),
            (tokens_squared, "The tokens count once"),
            (without_tokens, "The tokens are missing"),
            (without_candidates, "The candidates are missing"),
        ],
    }
}
