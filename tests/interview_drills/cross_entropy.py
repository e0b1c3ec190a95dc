"""Answers to the drill cross-entropy: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn import functional


def plainly(logits, labels, ignore_index=-100):
    kept = labels != ignore_index
    z, y = logits[kept], labels[kept]
    m = z.max(-1, keepdim=True).values
    losses = (m + (z - m).exp().sum(-1, keepdim=True).log()).squeeze(-1) - z[torch.arange(len(y)), y]
    return losses.sum() / max(len(y), 1)


def gathered(logits, labels, ignore_index=-100):
    kept = (labels != ignore_index).float()
    safe = labels.where(labels != ignore_index, 0)
    losses = logits.logsumexp(dim=1) - logits.gather(1, safe.unsqueeze(1)).squeeze(1)
    return (losses * kept).sum() / kept.sum().clamp(min=1)


def one_by_one(logits, labels, ignore_index=-100):
    total, count = logits.sum() * 0, 0
    for z, y in zip(logits, labels.tolist(), strict=True):
        if y != ignore_index:
            total, count = (
                total + torch.log(torch.exp(z - z[y]).sum())
                if z.abs().max() < 80
                else total + (z.max() + torch.log(torch.exp(z - z.max()).sum()) - z[y]),
                count + 1,
            )
    return total / count if count else total


def divides_by_all(logits, labels, ignore_index=-100):
    kept = labels != ignore_index
    return plainly(logits, labels, ignore_index) * kept.sum() / len(labels)


def not_ignored(logits, labels, ignore_index=-100):
    return (logits.logsumexp(1) - logits[torch.arange(len(labels)), labels]).mean()


def gathers_all(logits, labels, ignore_index=-100):
    return (logits.logsumexp(1) - logits.gather(1, labels[:, None])[:, 0]).mean()


def clamped(logits, labels, ignore_index=-100):
    safe = labels.clamp_min(0)
    return (logits.logsumexp(1) - logits[torch.arange(len(labels)), safe]).mean()


def negative_labels(logits, labels, ignore_index=-100):
    kept = labels >= 0
    return plainly(logits[kept], labels[kept])


def other_sign(logits, labels, ignore_index=-100):
    return -plainly(logits, labels, ignore_index)


def summed(logits, labels, ignore_index=-100):
    return plainly(logits, labels, ignore_index) * (labels != ignore_index).sum()


def overflowing(logits, labels, ignore_index=-100):
    kept = labels != ignore_index
    z, y = logits[kept], labels[kept]
    return (z.exp().sum(-1).log() - z[torch.arange(len(y)), y]).sum() / max(len(y), 1)


def with_an_epsilon(logits, labels, ignore_index=-100):
    kept = labels != ignore_index
    z, y = logits[kept], labels[kept]
    return -(z.softmax(-1)[torch.arange(len(y)), y] + 1e-9).log().sum() / max(len(y), 1)


def one_maximum(logits, labels, ignore_index=-100):
    kept = labels != ignore_index
    z, y = logits[kept], labels[kept]
    m = z.max() if len(z) else 0
    return (m + (z - m).exp().sum(-1).log() - z[torch.arange(len(y)), y]).sum() / max(len(y), 1)


def mean_of_nothing(logits, labels, ignore_index=-100):
    kept = labels != ignore_index
    z, y = logits[kept], labels[kept]
    return (z.logsumexp(-1) - z[torch.arange(len(y)), y]).mean()


def softmax_over_positions(logits, labels, ignore_index=-100):
    return (logits.logsumexp(0)[labels] - logits[torch.arange(len(labels)), labels]).mean()


def each_position(logits, labels, ignore_index=-100):
    kept = labels != ignore_index
    return logits[kept].logsumexp(-1) - logits[kept][torch.arange(int(kept.sum())), labels[kept]]


def torchs(logits, labels, ignore_index=-100):
    return functional.cross_entropy(logits, labels, ignore_index=ignore_index)


def as_a_float(logits, labels, ignore_index=-100):
    return plainly(logits, labels, ignore_index).item()


ANSWERS = {
    "cross-entropy": {
        "accepted": [plainly, gathered, one_by_one],
        "wrong": [
            (divides_by_all, "divide by all positions"),
            (not_ignored, "leave these positions out"),
            (gathers_all, "-100 is no class"),
            (clamped, "count as class 0"),
            (negative_labels, "whatever ignore_index is"),
            (other_sign, "The sign is wrong"),
            (summed, "The mean is asked for"),
            (overflowing, "Subtract the largest logit"),
            (with_an_epsilon, "small constant inside log"),
            (one_maximum, "Subtract the largest logit of each"),
            (mean_of_nothing, "the result of 0 / 0"),
            (softmax_over_positions, "run over the positions"),
            (each_position, "take the mean"),
            (torchs, "uses `cross_entropy`"),
            (as_a_float, "returned a float"),
        ],
    },
}
