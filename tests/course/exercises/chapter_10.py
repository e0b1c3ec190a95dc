"""Answers to the exercises of chapter 10: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch
from torch.nn.functional import cross_entropy, nll_loss

# 10.2 ------------------------------------------------------------------------------------------------------------


def by_masks(vectors, attention_mask, how):
    mask = attention_mask[..., None].float()
    if how == "cls":
        return vectors[:, 0, :]
    if how == "mean":
        return (vectors * mask).sum(1) / mask.sum(1)
    return (vectors + (1 - mask) * -1e9).max(dim=1).values


def by_loops(vectors, attention_mask, how):
    texts = [rows[real.bool()] for rows, real in zip(vectors, attention_mask, strict=True)]
    pick = {"cls": lambda t: t[0], "mean": lambda t: t.mean(0), "max": lambda t: t.amax(0)}[how]
    return torch.stack([pick(text) for text in texts])


def padding_in(vectors, attention_mask, how):
    return {"cls": vectors[:, 0], "mean": vectors.mean(1), "max": vectors.amax(1)}[how]


def padding_counted(vectors, attention_mask, how):
    zeroed = vectors * attention_mask[..., None]
    return zeroed.mean(1) if how == "mean" else by_masks(vectors, attention_mask, how)


def padding_zero(vectors, attention_mask, how):
    zeroed = vectors * attention_mask[..., None]
    return zeroed.amax(1) if how == "max" else by_masks(vectors, attention_mask, how)


def padding_wins(vectors, attention_mask, how):
    return vectors.amax(1) if how == "max" else by_masks(vectors, attention_mask, how)


def over_dimensions(vectors, attention_mask, how):
    return vectors.mean(-1)


def last_token(vectors, attention_mask, how):
    return vectors[:, -1] if how == "cls" else by_masks(vectors, attention_mask, how)


def by_batch(vectors, attention_mask, how):
    zeroed = vectors * attention_mask[..., None]
    return zeroed.sum(1) / attention_mask.sum() if how == "mean" else by_masks(vectors, attention_mask, how)


# 10.3 ------------------------------------------------------------------------------------------------------------


def by_powers(L, rate, decay):
    return [rate * decay ** (L + 1 - depth) for depth in range(L + 2)]


def downwards(L, rate, decay):
    found = [rate]
    for _ in range(L + 1):
        found.append(found[-1] * decay)
    return torch.tensor(found[::-1], dtype=torch.double)


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


# 10.4 ------------------------------------------------------------------------------------------------------------


def f1(probabilities, right, threshold, at_least=True):
    chosen = [p >= threshold if at_least else p > threshold for p in probabilities]
    hits = sum(c and r for c, r in zip(chosen, right, strict=True))
    return 2 * hits / (sum(chosen) + sum(right))


def by_trying(probabilities, right):
    return max(sorted(probabilities, reverse=True), key=lambda threshold: f1(probabilities, right, threshold))


def by_sorting(probabilities, right):
    order = np.argsort(-np.array(probabilities), kind="stable")
    hits = np.cumsum(np.array(right)[order])
    scores = 2 * hits / (np.arange(1, len(order) + 1) + sum(right))
    return np.array(probabilities)[order][scores.argmax()]


def one_half(probabilities, right):
    return 0.5


def above_only(probabilities, right):
    return max(sorted(probabilities, reverse=True), key=lambda t: f1(probabilities, right, t, at_least=False))


def precision(probabilities, right):
    return max(probabilities)


def recall(probabilities, right):
    return min(probabilities)


def smaller_of_equals(probabilities, right):
    return max(sorted(probabilities), key=lambda threshold: f1(probabilities, right, threshold))


def on_a_grid(probabilities, right):
    grid = [number / 7 for number in range(1, 7)]
    return max(grid, key=lambda threshold: f1(probabilities, right, threshold))


# 10.5 ------------------------------------------------------------------------------------------------------------


def plain(logits, labels):
    return cross_entropy(logits, labels)


def by_log_softmax(logits, labels):
    return nll_loss(logits.log_softmax(-1), labels)


def still_broken(logits, labels):
    return cross_entropy(logits.softmax(-1), labels)


def log_of_softmax(logits, labels):
    return nll_loss(logits.softmax(-1).log(), labels)


def summed(logits, labels):
    return cross_entropy(logits, labels, reduction="sum")


def each_row(logits, labels):
    return cross_entropy(logits, labels, reduction="none")


def no_logarithm(logits, labels):
    return 1 - logits.softmax(-1).gather(1, labels[:, None]).mean()


def turned(logits, labels):
    return -cross_entropy(logits, labels)


ANSWERS = {
    "10.1": {
        "accepted": [1.1, 1.0986],
        "wrong": [
            (0.33, "One third is the share"),
            (0, "whole share"),
            (0.69, "ln 2"),
            (1.58, "in bits"),
            (3, "three equal shares"),
        ],
    },
    "10.2": {
        "accepted": [by_masks, by_loops],
        "wrong": [
            (padding_in, "padding is averaged in"),
            (padding_counted, "it still counts"),
            (padding_zero, "0 wins"),
            (padding_wins, "padding wins the maximum"),
            (by_batch, "whole batch"),
            (last_token, "first token"),
            (over_dimensions, "One vector for each text"),
        ],
    },
    "10.3": {
        "accepted": [by_powers, downwards],
        "wrong": [
            (reversed_order, "wrong order"),
            (layers_only, "embeddings and the head learn too"),
            (without_embeddings, "6 are asked for"),
            (head_slowed, "Even the head is slowed down"),
            (linear, "a decay multiplies"),
        ],
    },
    "10.4": {
        "accepted": [by_trying, by_sorting],
        "wrong": [
            (one_half, "One half is only where one begins"),
            (above_only, "at least the threshold"),
            (precision, "best for precision alone"),
            (recall, "best for recall alone"),
            (smaller_of_equals, "the larger is asked for"),
            (on_a_grid, "none of the probabilities"),
        ],
    },
    "10.5": {
        "accepted": [plain, by_log_softmax],
        "wrong": [
            (still_broken, "still two softmaxes"),
            (log_of_softmax, "not finite"),
            (summed, "The mean is asked for"),
            (each_row, "The mean is asked for"),
            (no_logarithm, "a logarithm is missing"),
            (turned, "sign is turned round"),
        ],
    },
}
