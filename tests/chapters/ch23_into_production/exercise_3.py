"""Answers to exercise 23.3: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch

# 23.3 ----------------------------------------------------------------------------------------------------------------


def cost(threshold, probabilities, labels, false_alarm, miss):
    alarm = probabilities >= threshold
    return false_alarm * (alarm & (labels == 0)).sum() + miss * (~alarm & (labels == 1)).sum()


def try_all(probabilities, labels, false_alarm, miss):
    tried = [*probabilities.tolist(), 2.0]
    return min(tried, key=lambda t: float(cost(t, probabilities, labels, false_alarm, miss)))


def by_cumulative_sums(probabilities, labels, false_alarm, miss):
    order = probabilities.argsort()
    p, positive = probabilities[order], labels[order].bool()
    edges = torch.cat([torch.tensor([-1.0]), (p[1:] + p[:-1]) / 2, torch.tensor([1.01])])
    spent = torch.tensor([float(cost(t, p, positive.long(), false_alarm, miss)) for t in edges])
    return edges[spent.argmin()]


def on_a_grid(probabilities, labels, false_alarm, miss):
    grid = torch.linspace(0, 1.001, 5001)
    spent = [float(cost(t, probabilities, labels, false_alarm, miss)) for t in grid]
    return grid[spent.index(min(spent))].item()


def as_numpy(probabilities, labels, false_alarm, miss):
    p, y = probabilities.numpy(), labels.numpy()
    tried = np.append(p, np.float32(1.5))
    spent = [false_alarm * np.sum((p >= t) & (y == 0)) + miss * np.sum((p < t) & (y == 1)) for t in tried]
    return tried[np.argmin(spent)]


def one_for_none(probabilities, labels, false_alarm, miss):
    return min([*probabilities.tolist(), 1.0], key=lambda t: float(cost(t, probabilities, labels, false_alarm, miss)))


def ties_ignored(probabilities, labels, false_alarm, miss):
    order = probabilities.argsort(descending=True, stable=True)
    p, positive = probabilities[order], labels[order].bool()
    spent = [float(false_alarm * (~positive[:i]).sum() + miss * positive[i:].sum()) for i in range(len(p) + 1)]
    return [1.1, *p.tolist()][spent.index(min(spent))]


def formula_swapped(probabilities, labels, false_alarm, miss):
    return miss / (false_alarm + miss)


def swapped_costs(probabilities, labels, false_alarm, miss):
    return min(probabilities.unique().tolist(), key=lambda t: float(cost(t, probabilities, labels, miss, false_alarm)))


def most_accurate(probabilities, labels, false_alarm, miss):
    return min(probabilities.unique().tolist(), key=lambda t: float(cost(t, probabilities, labels, 1.0, 1.0)))


def by_formula(probabilities, labels, false_alarm, miss):
    return false_alarm / (false_alarm + miss)


def a_half(probabilities, labels, false_alarm, miss):
    return 0.5


def never_none(probabilities, labels, false_alarm, miss):
    return min(probabilities.tolist(), key=lambda t: float(cost(t, probabilities, labels, false_alarm, miss)))


def returns_the_cost(probabilities, labels, false_alarm, miss):
    return 100 + min(float(cost(t, probabilities, labels, false_alarm, miss)) for t in probabilities)


def returns_decisions(probabilities, labels, false_alarm, miss):
    return probabilities >= try_all(probabilities, labels, false_alarm, miss)


ANSWERS = {
    "23.3": {
        "accepted": [try_all, by_cumulative_sums, on_a_grid, as_numpy],
        "wrong": [
            (swapped_costs, "costs are swapped"),
            (most_accurate, "fewest errors"),
            (by_formula, "for calibrated probabilities"),
            (formula_swapped, "formula with the costs swapped"),
            (a_half, "knows nothing about costs"),
            (one_for_none, "probability of 1 is an alarm"),
            (ties_ignored, "is possible"),
            (never_none, "no alarm at all"),
            (returns_the_cost, "A threshold is a probability"),
            (returns_decisions, "should be a number"),
        ],
    }
}
