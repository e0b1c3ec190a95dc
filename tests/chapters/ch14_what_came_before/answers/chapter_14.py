"""Answers to the exercises of chapter 14: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import logsigmoid

from bertedu.chapters.ch14_what_came_before.exercises.chapter_14 import from_both_sides, sampling_loss


def by_broadcasting(center, context, negatives):
    scores = torch.cat([(center * context).sum(-1, keepdim=True), -(center[:, None] * negatives).sum(-1)], dim=1)
    return -logsigmoid(scores).sum(1).mean()


def by_softplus(center, context, negatives):
    total = torch.zeros(())
    for v, u, n in zip(center, context, negatives, strict=True):
        total = total + torch.nn.functional.softplus(-(v @ u)) + torch.nn.functional.softplus(n @ v).sum()
    return total / len(center)


def without_minus(center, context, negatives):
    return -sampling_loss(center, context, negatives)


def negatives_pulled(center, context, negatives):
    return sampling_loss(center, context, -negatives)


def mean_of_negatives(center, context, negatives):
    positive, negative = (center * context).sum(-1), (center[:, None] * negatives).sum(-1)
    return -(logsigmoid(positive) + logsigmoid(-negative).mean(-1)).mean()


def as_softmax(center, context, negatives):
    scores = torch.cat([(center * context).sum(-1, keepdim=True), (center[:, None] * negatives).sum(-1)], dim=1)
    return -scores.log_softmax(-1)[:, 0].mean()


def one_each(center, context, negatives):
    positive, negative = (center * context).sum(-1), (center[:, None] * negatives).sum(-1)
    return -(logsigmoid(positive) + logsigmoid(-negative).sum(-1))


def only_positive(center, context, negatives):
    return -logsigmoid((center * context).sum(-1)).mean()


def with_an_epsilon(center, context, negatives):
    scores = torch.cat([(center * context).sum(-1, keepdim=True), -(center[:, None] * negatives).sum(-1)], dim=1)
    return -(scores.sigmoid() + 1e-9).log().sum(1).mean()


def with_a_limit(center, context, negatives):
    scores = torch.cat([(center * context).sum(-1, keepdim=True), -(center[:, None] * negatives).sum(-1)], dim=1)
    return -scores.sigmoid().clamp_min(1e-9).log().sum(1).mean()


def unstable(center, context, negatives):
    positive, negative = (center * context).sum(-1), (center[:, None] * negatives).sum(-1)
    return -(torch.sigmoid(positive).log() + torch.sigmoid(-negative).log().sum(-1)).mean()


def by_binary_cross_entropy(center, context, negatives):
    scores = torch.cat([(center * context).sum(-1, keepdim=True), (center[:, None] * negatives).sum(-1)], dim=1)
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return torch.nn.functional.binary_cross_entropy_with_logits(scores, labels)


def every_context(center, context, negatives):
    negative = (center[:, None] * negatives).sum(-1)
    return -(logsigmoid(center @ context.T).mean(-1) + logsigmoid(-negative).sum(-1)).mean()


def every_negative(center, context, negatives):
    positive = (center * context).sum(-1)
    return -(logsigmoid(positive) + logsigmoid(-(center @ negatives.mT)).sum(-1)).mean()


def negatives_of_context(center, context, negatives):
    positive, negative = (center * context).sum(-1), (context[:, None] * negatives).sum(-1)
    return -(logsigmoid(positive) + logsigmoid(-negative).sum(-1)).mean()


def by_cosine(center, context, negatives):
    center, context, negatives = (torch.nn.functional.normalize(x, dim=-1) for x in (center, context, negatives))
    return sampling_loss(center, context, negatives)


def without_an_axis(center, context, negatives):
    positive, negative = (center * context).sum(-1), (center * negatives).sum(-1)
    return -(logsigmoid(positive) + logsigmoid(-negative).sum(-1)).mean()


def by_loops(word):
    marked, found = "<" + word + ">", []
    for start in range(len(marked)):
        for end in range(start + 3, min(start + 6, len(marked)) + 1):
            found.append(marked[start:end])
    return found


def by_filter(word):
    marked = f"<{word}>"
    runs = (marked[i : i + n] for n in (3, 4, 5, 6) for i in range(len(marked)))
    return tuple(run for n, run in zip((n for n in (3, 4, 5, 6) for _ in marked), runs, strict=True) if len(run) == n)


def runs(text, shortest, longest):
    lengths = range(shortest, min(longest, len(text)) + 1)
    return [text[i : i + n] for n in lengths for i in range(len(text) - n + 1)]


def unmarked(word):
    return runs(word, 3, 6)


def up_to_five(word):
    return runs(f"<{word}>", 3, 5)


def from_two(word):
    return runs(f"<{word}>", 2, 6)


def of_any_length(word):
    return runs(f"<{word}>", 3, 99)


def without_repetitions(word):
    return set(by_loops(word))


def past_the_end(word):
    marked = f"<{word}>"
    return [marked[i : i + n] for n in range(3, 7) for i in range(len(marked))]


def one_short(word):
    marked = f"<{word}>"
    return [marked[i : i + n] for n in range(3, 7) for i in range(len(marked) - n)]


def with_the_word(word):
    return [word, *by_loops(word)]


def by_bayes(left, right, frequency):
    log_joint = (left - frequency) + (right - frequency) + frequency
    return log_joint - log_joint.logsumexp(-1, keepdim=True)


def in_probabilities(left, right, frequency):
    joint = left.exp() * right.exp() / frequency.exp()
    return (joint / joint.sum(-1, keepdim=True)).log()


def unnormalized(left, right, frequency):
    return left + right - frequency


def twice_frequent(left, right, frequency):
    return (left + right).log_softmax(-1)


def averaged(left, right, frequency):
    return ((left + right) / 2).log_softmax(-1)


def mixture(left, right, frequency):
    return ((left.exp() + right.exp()) / 2).log()


def exponentiated(left, right, frequency):
    return from_both_sides(left, right, frequency).exp()


def over_the_batch(left, right, frequency):
    return (left + right - frequency).log_softmax(0)


def logarithm_twice(left, right, frequency):
    return (left + right - frequency.log()).log_softmax(-1)


def over_all_gaps(left, right, frequency):
    joint = left + right - frequency
    return joint - joint.exp().sum().log()


def multiplied(left, right, frequency):
    return (left * right / frequency).log_softmax(-1)


ANSWERS = {
    "14.1": {
        "accepted": [18, 18.0],
        "wrong": [
            (9, "gives two pairs"),
            (24, "both ends of the sentence"),
            (10, "window of 1"),
            (30, "all pairs of the sentence"),
            (17, "Go through the six centers"),
        ],
    },
    "14.2": {
        "accepted": [by_broadcasting, by_softplus],
        "wrong": [
            (without_minus, "minus sign is missing"),
            (negatives_pulled, "pushed towards the center"),
            (mean_of_negatives, "The loss adds them up"),
            (as_softmax, "separate yes-or-no"),
            (one_each, "One number for all pairs"),
            (only_positive, "all vectors may become equal"),
            (unstable, "log(0) is minus infinity"),
            (with_an_epsilon, "a small number inside your logarithm"),
            (with_a_limit, "or a limit"),
            (by_binary_cross_entropy, "mean over the K + 1 terms"),
            (every_context, "contexts of all pairs"),
            (every_negative, "negatives of all pairs"),
            (negatives_of_context, "They belong to the center"),
            (by_cosine, "This uses cosines"),
            (without_an_axis, "needs an axis"),
        ],
    },
    "14.3": {
        "accepted": [by_loops, by_filter],
        "wrong": [
            (unmarked, "tell a prefix from the middle"),
            (up_to_five, "Pieces of 6 characters are missing"),
            (from_two, "are too short"),
            (of_any_length, "are too long"),
            (without_repetitions, "stands twice in the list"),
            (past_the_end, "a slice past the end"),
            (with_the_word, "no run of the marked word"),
            (one_short, "at the end of the word are missing"),
        ],
    },
    "14.4": {
        "accepted": [by_bayes, in_probabilities],
        "wrong": [
            (unnormalized, "do not sum to 1 yet"),
            (twice_frequent, "counted twice here"),
            (averaged, "together they should be surer"),
            (mixture, "two observations: multiply"),
            (exponentiated, "their logarithms are asked for"),
            (over_the_batch, "sums to 1 over the batch"),
            (logarithm_twice, "a logarithm already"),
            (over_all_gaps, "All gaps together"),
            (multiplied, "they are added"),
        ],
    },
}
