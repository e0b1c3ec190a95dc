"""Answers to exercise 25.1: right ones, and mistakes with the words that they must hear."""

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
    }
}
