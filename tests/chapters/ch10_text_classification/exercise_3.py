"""Answers to exercise 10.3: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch

# 10.3 ------------------------------------------------------------------------------------------------------------


def by_powers(L, rate, decay):
    return [rate * decay ** (L + 1 - depth) for depth in range(L + 2)]


def downwards(L, rate, decay):
    found = [rate]
    for _ in range(L + 1):
        found.append(found[-1] * decay)
    return torch.tensor(found[::-1], dtype=torch.double)


def by_array(L, rate, decay):
    return rate * decay ** np.arange(L + 1, -1, -1)


def one_step_large(L, rate, decay):
    return [rate * decay ** (L - depth) for depth in range(L + 2)]


def head_alone(L, rate, decay):
    return rate


def reversed_order(L, rate, decay):
    return by_powers(L, rate, decay)[::-1]


def layers_only(L, rate, decay):
    return by_powers(L, rate, decay)[1:-1]


def without_embeddings(L, rate, decay):
    return by_powers(L, rate, decay)[1:]


def head_slowed(L, rate, decay):
    return [one * decay for one in by_powers(L, rate, decay)]


def linear(L, rate, decay):
    return [rate * (1 - (1 - decay) * (L + 1 - depth)) for depth in range(L + 2)]


def without_a_step_to_the_head(L, rate, decay):
    return [rate * decay ** max(0, L - depth) for depth in range(L + 2)]


def without_a_step_to_the_embeddings(L, rate, decay):
    return [rate * decay ** min(L, L + 1 - depth) for depth in range(L + 2)]


def divided(L, rate, decay):
    return [rate / decay ** (L + 1 - depth) for depth in range(L + 2)]


def by_multiples(L, rate, decay):
    return [rate * decay * depth for depth in range(L + 2)]


def shares_of_depth(L, rate, decay):
    return [rate * (depth + 1) / (L + 2) for depth in range(L + 2)]


def rounded(L, rate, decay):
    return [round(one, 4) for one in by_powers(L, rate, decay)]


def squared_decay(L, rate, decay):
    return [rate * decay ** (2 * (L + 1 - depth)) for depth in range(L + 2)]


ANSWERS = {
    "10.3": {
        "accepted": [by_powers, downwards, by_array],
        "wrong": [
            (reversed_order, "order is reversed"),
            (layers_only, "embeddings and the head learn too"),
            (without_embeddings, "needs 6"),
            (head_slowed, "slowed down the head"),
            (one_step_large, "one step too large"),
            (head_alone, "a list of 6 numbers"),
            (linear, "A decay multiplies"),
            (by_multiples, "A decay multiplies"),
            (shares_of_depth, "A decay multiplies"),
            (without_a_step_to_the_head, "Layer L learns as fast as the head"),
            (without_a_step_to_the_embeddings, "The embeddings learn as fast as layer 1"),
            (divided, "You divide by the decay"),
            (rounded, "Are the numbers rounded"),
            (squared_decay, "embeddings 3.13e-05, layer 1 6.25e-05"),
        ],
    }
}
