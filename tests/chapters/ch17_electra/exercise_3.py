"""Answers to exercise 17.3: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits, softplus


def mean_over_real(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    return binary_cross_entropy_with_logits(logits[real], (seen != text)[real].float())


def weighted(logits, seen, text, attention_mask):
    labels, weights = (seen != text).float(), attention_mask.float()
    each = binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (each * weights).sum() / weights.sum()


def by_softplus(logits, seen, text, attention_mask):
    signs = torch.where(seen == text, 1.0, -1.0)
    return softplus(signs * logits)[attention_mask == 1].mean()


def in_a_loop(logits, seen, text, attention_mask):
    total, count = 0.0, 0
    for z, new, old, real in zip(logits.flatten(), seen.flatten(), text.flatten(), attention_mask.flatten()):  # noqa: B905
        if real:
            total, count = total + (softplus(-z) if new != old else softplus(z)), count + 1
    return total / count


def with_padding(logits, seen, text, attention_mask):
    return binary_cross_entropy_with_logits(logits, (seen != text).float())


def divided_by_all(logits, seen, text, attention_mask):
    each = binary_cross_entropy_with_logits(logits, (seen != text).float(), reduction="none")
    return (each * attention_mask).mean()


def padding_at_zero(logits, seen, text, attention_mask):
    return binary_cross_entropy_with_logits(logits * attention_mask, (seen != text) * attention_mask.float())


def summed(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    return binary_cross_entropy_with_logits(logits[real], (seen != text)[real].float(), reduction="sum")


def swapped(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    return binary_cross_entropy_with_logits(logits[real], (seen == text)[real].float())


def text_by_text(logits, seen, text, attention_mask):
    losses = [mean_over_real(*(x[None] for x in row)) for row in zip(logits, seen, text, attention_mask)]  # noqa: B905
    return torch.stack(losses).mean()


def two_sigmoids(logits, seen, text, attention_mask):
    return mean_over_real(logits.sigmoid(), seen, text, attention_mask)


def replaced_only(logits, seen, text, attention_mask):
    there = seen != text
    return binary_cross_entropy_with_logits(logits[there], torch.ones(int(there.sum())))


def times_fifty(logits, seen, text, attention_mask):
    return 50 * mean_over_real(logits, seen, text, attention_mask)


def indexed_by_numbers(logits, seen, text, attention_mask):
    labels = (seen != text).float()
    return binary_cross_entropy_with_logits(logits[attention_mask], labels[attention_mask])


def boolean_labels(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    return binary_cross_entropy_with_logits(logits[real], (seen != text)[real])


def whole_labels(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    return binary_cross_entropy_with_logits(logits[real], (seen != text)[real].long())


def one_of_them_indexed(logits, seen, text, attention_mask):
    return binary_cross_entropy_with_logits(logits[attention_mask.bool()], (seen != text).float())


def probabilities_first(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    return binary_cross_entropy(logits[real].sigmoid(), (seen != text)[real].float())


def logits_as_probabilities(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    return binary_cross_entropy(logits[real], (seen != text)[real].float())


def each_token(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    return binary_cross_entropy_with_logits(logits[real], (seen != text)[real].float(), reduction="none")


def as_a_float(logits, seen, text, attention_mask):
    return mean_over_real(logits, seen, text, attention_mask).item()


ANSWERS = {
    "17.3": {
        "accepted": [mean_over_real, weighted, by_softplus, in_a_loop],
        "wrong": [
            (with_padding, "includes the padding"),
            (divided_by_all, "still divide by B·T"),
            (padding_at_zero, "each of them costs ln 2"),
            (summed, "sum over the real tokens"),
            (swapped, "labels are swapped"),
            (text_by_text, "mean of each text"),
            (two_sigmoids, "sigmoid is applied twice"),
            (replaced_only, "only at the replaced tokens"),
            (times_fifty, "The 50 belongs"),
            (indexed_by_numbers, "Make it boolean first"),
            (boolean_labels, "must be floats"),
            (whole_labels, "must be floats"),
            (one_of_them_indexed, "index only one of them"),
            (probabilities_first, "does both steps at once"),
            (logits_as_probabilities, "wants probabilities"),
            (each_token, "one number: the mean"),
            (as_a_float, "should be a tensor"),
        ],
    }
}
