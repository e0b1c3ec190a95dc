"""Answers to exercise 25.3: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import cross_entropy, one_hot


def with_one_hot(logits, labels):
    counts = (labels != -100).float()
    wanted = one_hot(labels.clamp_min(0), logits.size(-1))
    return (logits.softmax(-1) - wanted) * counts[:, None] / counts.sum()


def with_a_loop(logits, labels):
    result = torch.zeros_like(logits)
    n = sum(label != -100 for label in labels.tolist())
    for row, label in enumerate(labels.tolist()):
        if label != -100:
            result[row] = logits[row].softmax(0) / n
            result[row, label] -= 1 / n
    return result


def by_exp(logits, labels):
    shifted = (logits - logits.max(-1, keepdim=True).values).exp()
    result = shifted / shifted.sum(-1, keepdim=True)
    kept = labels != -100
    result[torch.arange(len(labels))[kept], labels[kept]] -= 1
    result[~kept] = 0
    return result / kept.sum()


def overflowing(logits, labels):
    result = logits.exp() / logits.exp().sum(-1, keepdim=True)
    kept = labels != -100
    result[torch.arange(len(labels))[kept], labels[kept]] -= 1
    return result * kept[:, None] / kept.sum()


def of_the_sum(logits, labels):
    return with_one_hot(logits, labels) * (labels != -100).sum()


def of_all_rows(logits, labels):
    return of_the_sum(logits, labels) / len(labels)


def wrong_sign(logits, labels):
    return -with_one_hot(logits, labels)


def along_rows(logits, labels):
    counts = (labels != -100).float()
    return (logits.softmax(0) - one_hot(labels.clamp_min(0), logits.size(-1))) * counts[:, None] / counts.sum()


def ignored_rows_too(logits, labels):
    return (logits.softmax(-1) - one_hot(labels.clamp_min(0), logits.size(-1))) / (labels != -100).sum()


def plain_one_hot(logits, labels):
    return (logits.softmax(-1) - one_hot(labels, logits.size(-1))) / len(labels)


def plain_index(logits, labels):
    result = logits.softmax(-1)
    result[torch.arange(len(labels)), labels] -= 1
    return result / len(labels)


def probabilities_alone(logits, labels):
    return logits.softmax(-1)


def with_autograd(logits, labels):
    leaf = logits.clone().requires_grad_()
    cross_entropy(leaf, labels).backward()
    return leaf.grad


def rows_left_out(logits, labels):
    kept = labels != -100
    return (logits[kept].softmax(-1) - one_hot(labels[kept], logits.size(-1))) / kept.sum()


def from_log_softmax(logits, labels):
    kept = (labels != -100)[:, None]
    return (logits.log_softmax(-1) - one_hot(labels.clamp_min(0), logits.size(-1))) * kept / kept.sum()


def label_alone(logits, labels):
    return with_one_hot(logits, labels).clamp_max(0)


ANSWERS = {
    "25.3": {
        "accepted": [with_one_hot, with_a_loop, by_exp],
        "wrong": [
            (of_the_sum, "The loss is their mean"),
            (of_all_rows, "you divided by all 4 rows"),
            (wrong_sign, "The sign is wrong"),
            (along_rows, "Your softmax runs along the rows"),
            (ignored_rows_too, "rows with the label −100 have a gradient"),
            (plain_one_hot, "refuses the label −100"),
            (plain_index, "A label of −100 is no class"),
            (probabilities_alone, "Those are the probabilities"),
            (overflowing, "exp(1000) is infinite"),
            (with_autograd, "autograd is switched off here"),
            (rows_left_out, "a row with the label −100 stays"),
            (from_log_softmax, "Take softmax without log"),
            (label_alone, "Every other class has a gradient too"),
        ],
    }
}
