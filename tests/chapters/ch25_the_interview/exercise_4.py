"""Answers to exercise 25.4: right ones, and mistakes with the words that they must hear."""

import math

import numpy
import torch

# 25.4 ------------------------------------------------------------------------------------------------------------


def flat(losses, batch_size):
    every = [loss for text in losses for loss in text]
    return math.exp(sum(every) / len(every)) if every else math.nan


def weighted(losses, batch_size):
    total = count = 0
    for start in range(0, len(losses), batch_size):
        batch = [loss for text in losses[start : start + batch_size] for loss in text]
        if batch:
            total += sum(batch) / len(batch) * len(batch)
            count += len(batch)
    return torch.tensor(total / count).exp() if count else torch.tensor(float("nan"))


def with_numpy(losses, batch_size):
    every = numpy.concatenate([numpy.array(text, dtype=float) for text in losses])
    return float(numpy.exp(every.mean())) if every.size else float("nan")


def means_of_means(losses, batch_size):
    means = []
    for start in range(0, len(losses), batch_size):
        batch = [loss for text in losses[start : start + batch_size] for loss in text]
        if batch:
            means.append(sum(batch) / len(batch))
    return math.exp(sum(means) / len(means)) if means else math.nan


def means_of_texts(losses, batch_size):
    means = [sum(text) / len(text) for text in losses if text]
    return math.exp(sum(means) / len(means)) if means else math.nan


def without_exp(losses, batch_size):
    return math.log(flat(losses, batch_size))


def exp_of_each(losses, batch_size):
    every = [math.exp(loss) for text in losses for loss in text]
    return sum(every) / len(every)


def by_texts(losses, batch_size):
    return math.exp(sum(map(sum, losses)) / len(losses))


def two_to_the_power(losses, batch_size):
    return 2 ** math.log(flat(losses, batch_size))


def nothing_is_one(losses, batch_size):
    every = [loss for text in losses for loss in text]
    return math.exp(sum(every) / max(1, len(every)))


def nothing_divides(losses, batch_size):
    every = [loss for text in losses for loss in text]
    return math.exp(sum(every) / len(every))


def without_minus(losses, batch_size):
    return 1 / flat(losses, batch_size)


ANSWERS = {
    "25.4": {
        "accepted": [flat, weighted, with_numpy],
        "wrong": [
            (means_of_means, "still the mean of the batches' means"),
            (means_of_texts, "the mean of the texts' means"),
            (without_exp, "That is the mean loss"),
            (exp_of_each, "You took exp of each loss"),
            (by_texts, "You divided by the number of texts"),
            (two_to_the_power, "use exp, and not 2"),
            (nothing_is_one, "nothing to average: return nan"),
            (without_minus, "The sign is wrong"),
            (nothing_divides, "or return nan"),
        ],
    }
}
