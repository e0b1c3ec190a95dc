"""Answers to exercise 1b.2: right ones, and mistakes with the words that they must hear."""

import math

import torch


def along_the_last_axis(logits):
    powers = logits.exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def safe(scores):
    powers = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
    return powers / powers.sum(1)[:, None]


def text_by_text(logits):
    return torch.stack([row.exp() / row.exp().sum() for row in logits])


def torchs_own(logits):
    return logits.softmax(dim=-1)


def by_its_logarithm(logits):
    return torch.nn.functional.log_softmax(logits, dim=-1).exp()


def over_all(logits):
    return logits.exp() / logits.exp().sum()


def over_the_texts(logits):
    return logits.exp() / logits.exp().sum(dim=0)


def without_keepdim(logits):
    return logits.exp() / logits.exp().sum(dim=-1)


def undivided(logits):
    return logits.exp()


def without_exp(logits):
    return logits / logits.sum(dim=-1, keepdim=True)


def half_a_power(logits):
    return logits / logits.exp().sum(dim=-1, keepdim=True)


def by_the_mean(logits):
    return logits.exp() / logits.exp().mean(dim=-1, keepdim=True)


def by_the_largest(logits):
    return logits.exp() / logits.exp().max(dim=-1, keepdim=True).values


def with_math(logits):
    return math.exp(logits) / sum(math.exp(logits))


def without_return(logits):
    logits.exp() / logits.exp().sum(dim=-1, keepdim=True)


def detached(logits):
    return along_the_last_axis(logits.detach())


ANSWERS = {
    "1b.2": {
        "accepted": [along_the_last_axis, safe, text_by_text],
        "wrong": [
            (torchs_own, "uses torch's `softmax`"),
            (by_its_logarithm, "uses `log_softmax`"),
            (over_all, "All 12 numbers together"),
            (over_the_texts, "Your columns sum to 1"),
            (without_keepdim, "without keepdim=True has the shape [B]"),
            (undivided, "Their sum is not 1"),
            (without_exp, "Raise e to them first"),
            (half_a_power, "by the sum of the powers"),
            (by_the_mean, "divide by the mean"),
            (by_the_largest, "divide by the largest power"),
            (with_math, "math.exp takes a single number"),
            (without_return, "returned None"),
            (detached, "cut off from its inputs"),
        ],
    }
}
