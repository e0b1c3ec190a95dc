"""Answers to exercise 10.4: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch

# 10.4 ------------------------------------------------------------------------------------------------------------


def f1(probabilities, right, threshold, at_least=True):
    chosen = [p >= threshold if at_least else p > threshold for p in probabilities]
    hits = sum(c and r for c, r in zip(chosen, right, strict=True))
    return 2 * hits / (sum(chosen) + sum(right))


def by_trying(probabilities, right):
    return max(sorted(probabilities, reverse=True), key=lambda threshold: f1(probabilities, right, threshold))


def by_sorting(probabilities, right):
    order = np.argsort(-np.array(probabilities), kind="stable")
    found, hits = np.array(probabilities)[order], np.cumsum(np.array(right)[order])
    scores = 2 * hits / (np.arange(1, len(order) + 1) + sum(right))
    scores[:-1][found[:-1] == found[1:]] = -1  # texts with the same probability come together
    return found[scores.argmax()]


def splits_ties(probabilities, right):
    order = np.argsort(-np.array(probabilities), kind="stable")
    scores = 2 * np.cumsum(np.array(right)[order]) / (np.arange(1, len(order) + 1) + sum(right))
    return np.array(probabilities)[order][scores.argmax()]


def splits_ties_from_behind(probabilities, right):
    order = np.argsort(probabilities, kind="stable")[::-1]
    scores = 2 * np.cumsum(np.array(right)[order]) / (np.arange(1, len(order) + 1) + sum(right))
    return np.array(probabilities)[order][scores.argmax()]


def by_pairs(probabilities, right):
    pairs, best = list(zip(probabilities, right, strict=True)), (-1, -1)
    for threshold in set(probabilities):
        chosen = [truth for probability, truth in pairs if probability >= threshold]
        precision, recall = sum(chosen) / len(chosen), sum(chosen) / sum(right)
        harmonic = 2 * precision * recall / (precision + recall) if sum(chosen) else 0
        best = max(best, (harmonic, threshold))
    return torch.tensor(best[1], dtype=torch.double)


def by_accuracy(probabilities, right):
    def score(threshold):
        return sum((p >= threshold) == r for p, r in zip(probabilities, right, strict=True)), threshold

    return max(probabilities, key=score)


def the_f1(probabilities, right):
    return max(f1(probabilities, right, threshold) for threshold in probabilities)


def not_a_number(probabilities, right):
    return float("nan")


def both(probabilities, right):
    return by_trying(probabilities, right), the_f1(probabilities, right)


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


def first_of_equals(probabilities, right):
    return max(probabilities, key=lambda threshold: f1(probabilities, right, threshold))


def index_of_the_best(probabilities, right):
    return probabilities.index(by_trying(probabilities, right))


def all_right_ones(probabilities, right):
    return min(p for p, truth in zip(probabilities, right, strict=True) if truth)


def counts_true_negatives(probabilities, right):
    def score(threshold):
        chosen = [p >= threshold for p in probabilities]
        hits = sum(c == r for c, r in zip(chosen, right, strict=True))
        return 2 * hits / (sum(chosen) + sum(right)), threshold

    return max(probabilities, key=score)


def truths_left_behind(probabilities, right):
    return by_trying(sorted(probabilities, reverse=True), right)


def on_a_grid(probabilities, right):
    grid = [number / 7 for number in range(1, 7)]
    return max(grid, key=lambda threshold: f1(probabilities, right, threshold))


def on_a_grid_of_hundredths(probabilities, right):
    grid = [number / 100 for number in range(101)]
    return max(grid, key=lambda threshold: (f1(probabilities, right, threshold), threshold))


ANSWERS = {
    "10.4": {
        "accepted": [by_trying, by_sorting, by_pairs],
        "wrong": [
            (one_half, "One half is only a start"),
            (above_only, "at least the threshold"),
            (precision, "best for precision alone"),
            (recall, "best for recall alone"),
            (splits_ties, "chooses all of them or none"),
            (splits_ties_from_behind, "chooses all of them or none"),
            (by_accuracy, "highest accuracy"),
            (the_f1, "the best F1 itself"),
            (both, "one number"),
            (not_a_number, "none of the probabilities"),
            (smaller_of_equals, "Return the larger"),
            (first_of_equals, "Return the larger"),
            (index_of_the_best, "the index of the best threshold"),
            (all_right_ones, "no text with the label is missing"),
            (counts_true_negatives, "F1 at 0.9 is 2 · 1 / (1 + 2) = 0.67. F1 at 0.7 is 2 · 2 / (2 + 2) = 1.00"),
            (truths_left_behind, "leave the truths in their order"),
            (on_a_grid, "none of the probabilities"),
            (on_a_grid_of_hundredths, "none of the probabilities"),
        ],
    }
}
