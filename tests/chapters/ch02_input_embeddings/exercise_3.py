"""Answers to exercise 2.3: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import layer_norm as of_torch

# 2.3 -------------------------------------------------------------------------------------------------------------


def three_lines(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    return centred / (variance + eps).sqrt() * weight + bias


def with_var(x, w, b, e):
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True, correction=0) + e) * w + b


def torchs_own(x, weight, bias, eps):
    return of_torch(x, x.shape[-1:], weight, bias, eps)


def unbiased(x, weight, bias, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() * weight + bias


def over_tokens(x, weight, bias, eps):
    centred = x - x.mean(1, keepdim=True)
    return centred / ((centred**2).mean(1, keepdim=True) + eps).sqrt() * weight + bias


def over_batch(x, weight, bias, eps):
    centred = x - x.mean(0, keepdim=True)
    return centred / ((centred**2).mean(0, keepdim=True) + eps).sqrt() * weight + bias


def like_batch_norm(x, weight, bias, eps):
    mean, variance = x.mean((0, 1)), x.var((0, 1), correction=0)
    return (x - mean) / (variance + eps).sqrt() * weight + bias


def over_everything(x, weight, bias, eps):
    return (x - x.mean()) / (x.var(unbiased=False) + eps).sqrt() * weight + bias


def without_keepdim(x, weight, bias, eps):
    return (x - x.mean(-1)) / (x.var(-1, unbiased=False) + eps).sqrt() * weight + bias


def by_the_variance(x, weight, bias, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + eps) * weight + bias


def eps_outside(x, weight, bias, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, unbiased=False) + eps) * weight + bias


def no_eps(x, weight, bias, eps):
    return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, unbiased=False) * weight + bias


def no_weight_no_bias(x, weight, bias, eps):
    return three_lines(x, 1, 0, eps)


def as_in_the_annotated_transformer(x, weight, bias, eps):
    return weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


def in_place(x, weight, bias, eps):
    x -= x.mean(-1, keepdim=True)
    return x / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt() * weight + bias


def without_mean(x, weight, bias, eps):
    return x / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt() * weight + bias


def sum_of_squares(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred / ((centred**2).sum(-1, keepdim=True) + eps).sqrt() * weight + bias


def only_centred(x, weight, bias, eps):
    return (x - x.mean(-1, keepdim=True)) * weight + bias


ANSWERS = {
    "2.3": {
        "accepted": [three_lines, with_var],
        "wrong": [
            (torchs_own, "it uses `layer_norm`"),
            (unbiased, "only with correction=0"),
            (over_tokens, "over the tokens of a text"),
            (over_batch, "over the batch"),
            (like_batch_norm, "as BatchNorm does"),
            (over_everything, "one mean and one variance"),
            (without_keepdim, "`keepdim=True` makes it"),
            (by_the_variance, "divide by the variance"),
            (eps_outside, "added to the standard deviation"),
            (no_eps, "prevents a division by 0"),
            (no_weight_no_bias, "weight and bias are missing"),
            (as_in_the_annotated_transformer, "divided by D - 1"),
            (in_place, "in place"),
            (without_mean, "mean is not subtracted"),
            (sum_of_squares, "not divided by D"),
            (only_centred, "nothing is divided"),
        ],
    }
}
