"""Answers to exercise 10.5: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import cross_entropy, nll_loss

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


def over_all_logits(logits, labels):
    one_hot = torch.nn.functional.one_hot(labels, 3)
    return -(logits.log_softmax(-1) * one_hot).mean()


def each_row(logits, labels):
    return cross_entropy(logits, labels, reduction="none")


def no_logarithm(logits, labels):
    return 1 - logits.softmax(-1).gather(1, labels[:, None]).mean()


def by_logsumexp(logits, labels):
    return (logits.logsumexp(1) - logits[torch.arange(len(labels)), labels]).mean()


def with_a_small_number(logits, labels):
    return nll_loss((logits.softmax(-1) + 1e-9).log(), labels)


def no_softmax(logits, labels):
    return nll_loss(logits, labels)


def no_logarithm_either(logits, labels):
    return nll_loss(logits.softmax(-1), labels)


def by_exp(logits, labels):
    probabilities = logits.exp() / logits.exp().sum(-1, keepdim=True)
    return nll_loss(probabilities.log(), labels)


def over_the_batch(logits, labels):
    return nll_loss(logits.log_softmax(0), labels)


def through_a_sigmoid(logits, labels):
    return cross_entropy(logits.sigmoid(), labels)


def cut_off(logits, labels):
    return cross_entropy(logits.detach(), labels)


def negated(logits, labels):
    return -cross_entropy(logits, labels)


ANSWERS = {
    "10.5": {
        "accepted": [plain, by_log_softmax, by_logsumexp],
        "wrong": [
            (still_broken, "still two softmaxes"),
            (log_of_softmax, "not finite"),
            (by_exp, "infinity divided by infinity"),
            (over_the_batch, "goes over the rows"),
            (through_a_sigmoid, "Only one line of broken_loss is wrong"),
            (cut_off, "cut off from its inputs"),
            (with_a_small_number, "small number inside your logarithm"),
            (no_softmax, "a softmax is missing"),
            (no_logarithm_either, "a logarithm is missing"),
            (summed, "Return the mean"),
            (over_all_logits, "Divide by the number of rows"),
            (each_row, "one number for the batch"),
            (no_logarithm, "a logarithm is missing"),
            (negated, "The sign is wrong"),
        ],
    }
}
