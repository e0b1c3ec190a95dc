"""Answers to the exercises of chapter 23: right ones, and mistakes with the words that they must hear."""

import hashlib
import json

import torch

# 23.1 ----------------------------------------------------------------------------------------------------------------


def by_columns(weights):
    scales = weights.abs().amax(dim=0).clamp_min(1e-8) / 127
    return (weights / scales).round().to(torch.int8), scales


def column_by_column(matrix):
    numbers, scales = torch.zeros(matrix.shape, dtype=torch.int8), []
    for column in range(matrix.shape[1]):
        scale = matrix[:, column].abs().max().item() / 127 or 1.0
        numbers[:, column] = torch.round(matrix[:, column] / scale)
        scales.append(scale)
    return numbers, torch.tensor(scales)


def with_kept_axis(weights):
    largest = weights.abs().max(dim=0, keepdim=True).values
    scales = torch.where(largest > 0, largest / 127, 1.0)
    return [torch.clamp(torch.round(weights / scales), -127, 127).to(torch.int8), scales]


def scaled_by(scales_of, finish=torch.round, dtype=torch.int8):
    def quantize(weights):
        scales = scales_of(weights)
        return finish(weights / scales).to(dtype), scales

    return quantize


def largest(weights):
    return weights.abs().amax(dim=0).clamp_min(1e-8) / 127


one_for_all = scaled_by(lambda w: w.abs().max() / 127)
by_rows = scaled_by(lambda w: w.abs().amax(dim=1, keepdim=True) / 127)
with_the_sign = scaled_by(lambda w: w.amax(dim=0) / 127)
by_128 = scaled_by(lambda w: w.abs().amax(dim=0) / 128)
by_255 = scaled_by(lambda w: w.abs().amax(dim=0) / 255)
by_range = scaled_by(lambda w: (w.amax(dim=0) - w.amin(dim=0)) / 255)
truncated = scaled_by(largest, finish=lambda x: x)
still_floats = scaled_by(largest, dtype=torch.float32)
zeros_divided = scaled_by(lambda w: w.abs().amax(dim=0) / 127)


def only_numbers(weights):
    return by_columns(weights)[0]


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


# 23.4 ----------------------------------------------------------------------------------------------------------------


def by_json(tokens, lower_case):
    return hashlib.sha256(json.dumps([list(tokens), lower_case]).encode()).hexdigest()


def piece_by_piece(tokens, lower_case):
    found = hashlib.blake2b(bytes([lower_case]))
    for token in tokens:
        written = token.encode("utf-8")
        found.update(len(written).to_bytes(4, "big") + written)
    return found.hexdigest()


def of_its_repr(tokens, lower_case):
    return hashlib.md5(repr((tokens, lower_case)).encode()).hexdigest()


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def sorted_first(tokens, lower_case):
    return sha("\n".join(sorted(tokens)) + str(lower_case))


def joined(tokens, lower_case):
    return sha("".join(tokens) + str(lower_case))


def without_casing(tokens, lower_case):
    return sha("\n".join(tokens))


def by_hash(tokens, lower_case):
    return str(hash((tuple(tokens), lower_case)))


def only_the_size(tokens, lower_case):
    return f"{len(tokens)}"


def in_ascii(tokens, lower_case):
    plain = {"é": "e"}
    return sha("\n".join("".join(plain.get(c, c) for c in token) for token in tokens) + str(lower_case))


def only_the_beginning(tokens, lower_case):
    return sha("\n".join(tokens[:10]) + str(lower_case))


def without_repeats(tokens, lower_case):
    return sha("\n".join(dict.fromkeys(tokens)) + str(lower_case))


def as_bytes(tokens, lower_case):
    return hashlib.sha256("\n".join(tokens).encode()).digest()


ANSWERS = {
    "23.1": {
        "accepted": [by_columns, column_by_column, with_kept_axis],
        "wrong": [
            (one_for_all, "one scale for the whole matrix"),
            (by_rows, "a scale for each row"),
            (with_the_sign, "with its sign"),
            (by_128, "ends at 127"),
            (by_255, "serve both signs"),
            (by_range, "a zero point"),
            (truncated, "cuts off the decimals"),
            (still_floats, "Four bytes a number"),
            (zeros_divided, "0 / 0 is nan"),
            (only_numbers, "2 things are asked for"),
        ],
    },
    "23.2": {
        "accepted": [90, 90.0],
        "wrong": [
            (18, "in proportion"),
            (9, "How many milliseconds"),
            (100, "Waiting alone"),
            (10, "at 50 requests a second"),
            (0.09, "the unit that"),
            (45, "utilization is 0.9"),
        ],
    },
    "23.3": {
        "accepted": [try_all, by_cumulative_sums, on_a_grid],
        "wrong": [
            (swapped_costs, "costs are swapped"),
            (most_accurate, "fewest errors"),
            (by_formula, "for calibrated probabilities"),
            (a_half, "knows nothing about costs"),
            (never_none, "no alarm at all"),
            (returns_the_cost, "A threshold is a probability"),
            (returns_decisions, "should be a number"),
        ],
    },
    "23.4": {
        "accepted": [by_json, piece_by_piece, of_its_repr],
        "wrong": [
            (sorted_first, "forget the order"),
            (joined, "without a border"),
            (without_casing, "lower-case and the other"),
            (by_hash, "another number in each process"),
            (only_the_size, "a length or a sum"),
            (in_ascii, "Encode as UTF-8"),
            (only_the_beginning, "near the end"),
            (without_repeats, "Is it a set"),
            (as_bytes, "hexdigest gives one"),
        ],
    },
}
