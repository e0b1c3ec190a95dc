"""Answers to exercise 1b.5: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import cross_entropy, log_softmax, nll_loss


def of_logits(logits, answers):
    return cross_entropy(logits, answers)


def by_hand(logits, answers):
    p = logits.softmax(dim=-1)
    return -p.clamp_min(1e-30)[range(len(answers)), answers].log().mean()


def in_two_parts(logits, answers):
    return nll_loss(log_softmax(logits, dim=-1), answers)


def still_twice(logits, answers):
    return cross_entropy(logits.softmax(dim=-1), answers)


def without_logarithm(logits, answers):
    return nll_loss(logits.softmax(dim=-1), answers)


def without_softmax(logits, answers):
    return nll_loss(logits, answers)


def summed(logits, answers):
    return cross_entropy(logits, answers, reduction="sum")


def one_each(logits, answers):
    return cross_entropy(logits, answers, reduction="none")


def positive_logarithm(logits, answers):
    return -cross_entropy(logits, answers)


def mean_first(logits, answers):
    return -logits.softmax(dim=-1)[range(len(answers)), answers].mean().log()


def swapped(logits, answers):
    return cross_entropy(answers, logits)


def a_number(logits, answers):
    return torch.tensor(cross_entropy(logits, answers).item())


def rows_of_texts(logits, answers):
    return -logits.softmax(dim=-1)[answers].log().mean()


def all_right_words(logits, answers):
    return -logits.softmax(dim=-1)[:, answers].log().mean()


ANSWERS = {
    "1b.5": {
        "accepted": [of_logits, by_hand, in_two_parts],
        "wrong": [
            (still_twice, "softmax is still computed twice"),
            (without_logarithm, "This has no logarithm"),
            (without_softmax, "no softmax at all"),
            (summed, "the sum over the texts"),
            (one_each, "one loss for each text"),
            (positive_logarithm, "The sign is wrong"),
            (mean_first, "mean probability first"),
            (swapped, "logits first, and then the answers"),
            (rows_of_texts, "a row is a text"),
            (all_right_words, "all right words for each text"),
            (a_number, "cut off from its inputs"),
        ],
    }
}
