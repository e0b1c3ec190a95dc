"""Answers to the exercises 25.1, 25.2, 25.4 and 25.5: right ones, and mistakes with the words that they hear."""

import math

import numpy
import torch
from torch import nn

# 25.1 ------------------------------------------------------------------------------------------------------------


def summed(V, P, D, F, L):
    norm, square = 2 * D, D * D + D
    return (V + P + 2) * D + norm + L * (4 * square + 2 * D * F + F + D + 2 * norm) + square


def by_layers(V, P, D, F, L):
    total = sum(rows * D for rows in (V, P, 2)) + 2 * D
    for _ in range(L):
        for n, m in [(D, D)] * 4 + [(D, F), (F, D)]:
            total += n * m + m
        total += 2 * 2 * D
    return total + D * D + D


def by_torch(V, P, D, F, L):
    layer = [nn.Linear(D, D) for _ in range(4)] + [nn.Linear(D, F), nn.Linear(F, D), nn.LayerNorm(D), nn.LayerNorm(D)]
    rest = [nn.Embedding(V, D), nn.Embedding(P, D), nn.Embedding(2, D), nn.LayerNorm(D), nn.Linear(D, D)]
    count = lambda parts: sum(p.numel() for part in parts for p in part.parameters())  # noqa: E731
    return L * count(layer) + count(rest)


def estimate(V, P, D, F, L):
    return 12 * D**2 * L + V * D


def without_pooler(V, P, D, F, L):
    return summed(V, P, D, F, L) - D * D - D


def without_norms(V, P, D, F, L):
    return summed(V, P, D, F, L) - 2 * D - L * 4 * D


def without_layer_norms(V, P, D, F, L):
    return summed(V, P, D, F, L) - L * 4 * D


def one_norm(V, P, D, F, L):
    return summed(V, P, D, F, L) - L * 2 * D


def last_norm(V, P, D, F, L):
    return summed(V, P, D, F, L) + 2 * D


def without_biases(V, P, D, F, L):
    return (V + P + 2) * D + 2 * D + L * (4 * D * D + 2 * D * F + 4 * D) + D * D


def without_segments(V, P, D, F, L):
    return summed(V, P, D, F, L) - 2 * D


def without_output(V, P, D, F, L):
    return summed(V, P, D, F, L) - L * (D * D + D)


def four_times(V, P, D, F, L):
    return summed(V, P, D, 4 * D, L)


def with_head(V, P, D, F, L):
    return summed(V, P, D, F, L) + V


def in_numpy(V, P, D, F, L):
    return numpy.int64(summed(V, P, D, F, L))


def in_torch(V, P, D, F, L):
    return torch.tensor(summed(V, P, D, F, L))


def one_segment(V, P, D, F, L):
    return summed(V, P, D, F, L) - D


def scales_alone(V, P, D, F, L):
    return summed(V, P, D, F, L) - D - L * 2 * D


def matrices_alone(V, P, D, F, L):
    return (V + P + 2) * D + L * (4 * D * D + 2 * D * F) + D * D


def tables_and_layers(V, P, D, F, L):
    return summed(V, P, D, F, L) - D * D - D - 2 * D


# 25.2 ------------------------------------------------------------------------------------------------------------


def by_parts(parameters, trained, mixed):
    return ((6 if mixed else 4) * parameters + 12 * trained) / 10**9


def frozen_apart(parameters, trained, mixed):
    frozen = parameters - trained
    return (frozen * (4 + 2 * mixed) + trained * (16 + 2 * mixed)) / 1e9


def all_trained(parameters, trained, mixed):
    return (16 + 2 * mixed) * parameters / 1e9


def in_bytes(parameters, trained, mixed):
    return 1e9 * by_parts(parameters, trained, mixed)


def in_gib(parameters, trained, mixed):
    return by_parts(parameters, trained, mixed) * 1e9 / 2**30


def weights_alone(parameters, trained, mixed):
    return 4 * parameters / 1e9


def no_moments(parameters, trained, mixed):
    return (4 * parameters + 4 * trained) / 1e9


def trained_copy(parameters, trained, mixed):
    return (4 * parameters + (14 if mixed else 12) * trained) / 1e9


def halved(parameters, trained, mixed):
    return by_parts(parameters, trained, False) / (2 if mixed else 1)


def gradients_of_all(parameters, trained, mixed):
    return ((10 if mixed else 8) * parameters + 8 * trained) / 1e9


def gradients_in_bf16(parameters, trained, mixed):
    return ((2 if mixed else 4) * (parameters + trained) + 8 * trained) / 1e9


def in_megabytes(parameters, trained, mixed):
    return by_parts(parameters, trained, mixed) * 1000


def instead(parameters, trained, mixed):
    return ((2 if mixed else 4) * parameters + 12 * trained) / 1e9


def only_trained(parameters, trained, mixed):
    return 16 * trained / 1e9


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
    "25.1": {
        "accepted": [summed, by_layers, by_torch, in_numpy, in_torch],
        "wrong": [
            (estimate, "That is the estimate"),
            (without_pooler, "The pooler is missing"),
            (without_norms, "All LayerNorms are missing"),
            (without_layer_norms, "The LayerNorms of the layers are missing"),
            (one_norm, "One LayerNorm a layer is missing"),
            (last_norm, "Is there a LayerNorm after the last layer?"),
            (without_biases, "The biases are missing"),
            (without_segments, "are both segments counted"),
            (without_output, "One matrix a layer is missing"),
            (four_times, "Use F for the feed-forward"),
            (one_segment, "a row for each of the two segments"),
            (scales_alone, "a scale and a shift"),
            (matrices_alone, "Those are the matrices alone"),
            (tables_and_layers, "The pooler is missing, and 2·D more"),
            (with_head, "the bias of the head of pre-training"),
            (lambda V, P, D, F, L: 1000, "too few; D is 768"),
            (lambda V, P, D, F, L: summed(V, P, D, F, L) / 1e6, "it should be a whole number"),
        ],
    },
    "25.2": {
        "accepted": [by_parts, frozen_apart],
        "wrong": [
            (all_trained, "Frozen weights need no gradient"),
            (in_bytes, "Those are bytes"),
            (in_gib, "which is a GiB"),
            (weights_alone, "Those are the weights alone"),
            (no_moments, "AdamW keeps two more numbers"),
            (trained_copy, "The bf16 copy holds *all* weights"),
            (halved, "Not everything is halved"),
            (instead, "The fp32 weights stay"),
            (gradients_of_all, "You counted a gradient for every weight"),
            (gradients_in_bf16, "gradients are in fp32 here"),
            (in_megabytes, "Those are megabytes"),
            (only_trained, "The frozen weights take memory too"),
        ],
    },
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
    },
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
    },
}
