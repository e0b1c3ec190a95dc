"""Answers to the exercises of chapter 23: right ones, and mistakes with the words that they must hear."""

import hashlib
import json
import unicodedata

import numpy as np
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


def zero_scale_kept(weights):
    scales = weights.abs().amax(dim=0) / 127
    return torch.where(scales > 0, weights / scales, 0.0).round().to(torch.int8), scales


def high_floor(weights):
    scales = (weights.abs().amax(dim=0) / 127).clamp_min(1e-3)
    return (weights / scales).round().to(torch.int8), scales


def scales_first(weights):
    return by_columns(weights)[::-1]


inverse = scaled_by(lambda w: 127 / w.abs().amax(dim=0))
undivided = scaled_by(lambda w: w.abs().amax(dim=0))


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


def by_wrapped_hash(tokens, lower_case):
    return sha(str(hash((tuple(tokens), lower_case))))


def of_a_set(tokens, lower_case):
    return sha(repr(frozenset(enumerate(tokens))) + str(lower_case))


def of_an_array(tokens, lower_case):
    return sha(str(np.array(tokens)) + str(lower_case))


def lowered(tokens, lower_case):
    return sha("\n".join(token.lower() for token in tokens) + str(lower_case))


def with_spaces(tokens, lower_case):
    return sha(" ".join(tokens) + str(lower_case))


def with_tabs(tokens, lower_case):
    return sha("\t".join(tokens) + str(lower_case))


def with_commas(tokens, lower_case):
    return sha(",".join(tokens) + str(lower_case))


def without_marks(tokens, lower_case):
    return sha("\n".join(token.removeprefix("##") for token in tokens) + str(lower_case))


def composed(tokens, lower_case):
    return sha(unicodedata.normalize("NFC", "\n".join(tokens)) + str(lower_case))


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
            (zeros_divided, "no rule says"),
            (zero_scale_kept, "isn't above 0"),
            (high_floor, "far smaller than any weight"),
            (scales_first, "integers come first"),
            (inverse, "This is 1 / scale"),
            (undivided, "largest absolute value itself"),
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
    },
    "23.4": {
        "accepted": [by_json, piece_by_piece, of_its_repr],
        "wrong": [
            (sorted_first, "forget the order"),
            (joined, "without a border"),
            (without_casing, "lower-case and the other"),
            (by_hash, "another number in each process"),
            (by_wrapped_hash, "in another process"),
            (of_a_set, "in another process"),
            (of_an_array, "in the middle"),
            (lowered, "'a' became 'A'"),
            (with_commas, "a comma can be a token's part"),
            (with_spaces, "a space can be a token's part"),
            (with_tabs, "a tab can be a token's part"),
            (without_marks, "'a' and '##a'"),
            (composed, "an accent"),
            (only_the_size, "a length or a sum"),
            (in_ascii, "Encode as UTF-8"),
            (only_the_beginning, "in the middle"),
            (without_repeats, "Is it a set"),
            (as_bytes, "hexdigest gives one"),
        ],
    },
}
