"""Answers to exercise 14.2: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import logsigmoid

from bertedu.chapters.ch14_what_came_before.exercises.exercise_2 import sampling_loss


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


ANSWERS = {
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
    }
}
