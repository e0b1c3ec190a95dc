"""Answers to the drill layer-norm: right ones, and mistakes with the words that they must hear."""

import torch
from torch import nn
from torch.nn import functional


def plainly(x, weight, bias, eps=1e-12):
    centered = x - x.mean(-1, keepdim=True)
    return centered / torch.sqrt(centered.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


def var_mean(x, w, b, eps=1e-12):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(b, (x - mean) * torch.rsqrt(variance + eps), w)


def sums(x, weight, bias, eps=1e-12):
    size = x.shape[-1]
    mean = (x.sum(dim=-1) / size)[..., None]
    variance = ((x - mean) ** 2).sum(dim=-1)[..., None] / size
    return weight * ((x - mean) / (variance + eps) ** 0.5) + bias


def by_d_minus_one(x, weight, bias, eps=1e-12):
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + eps) * weight + bias


def by_the_variance(x, weight, bias, eps=1e-12):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + eps) * weight + bias


def eps_outside(x, weight, bias, eps=1e-12):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, unbiased=False) + eps) * weight + bias


def no_eps(x, weight, bias, eps=1e-12):
    return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, unbiased=False) * weight + bias


def without_keepdim(x, weight, bias, eps=1e-12):
    return (x - x.mean(-1)) / torch.sqrt(x.var(-1, unbiased=False) + eps) * weight + bias


def over_the_tokens(x, weight, bias, eps=1e-12):
    return plainly(x.mT, 1, 0, eps).mT * weight + bias


def rms(x, weight, bias, eps=1e-12):
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


def unscaled(x, weight, bias, eps=1e-12):
    return plainly(x, 1, 0, eps)


def bias_first(x, weight, bias, eps=1e-12):
    return (plainly(x, 1, 0, eps) + bias) * weight


def squares_of_large_numbers(x, weight, bias, eps=1e-12):
    mean = x.mean(-1, keepdim=True)
    variance = ((x * x).mean(-1, keepdim=True) - mean * mean).clamp_min(0)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias


def torchs(x, weight, bias, eps=1e-12):
    return functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


def torchs_class(x, weight, bias, eps=1e-12):
    return nn.LayerNorm(x.shape[-1], eps=eps)(x) * weight + bias


def in_place(x, weight, bias, eps=1e-12):
    x -= x.mean(-1, keepdim=True)
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


def detached(x, weight, bias, eps=1e-12):
    return plainly(x.detach(), weight, bias, eps)


ANSWERS = {
    "layer-norm": {
        "accepted": [plainly, var_mean, sums],
        "wrong": [
            (by_d_minus_one, "divided by D - 1"),
            (by_the_variance, "its square root"),
            (eps_outside, "below the root"),
            (no_eps, "eps is not used"),
            (without_keepdim, "keepdim=True keeps it"),
            (over_the_tokens, "normalize over the tokens"),
            (rms, "The mean is not subtracted"),
            (unscaled, "weight and bias are missing"),
            (bias_first, "The bias is scaled too"),
            (squares_of_large_numbers, "Subtract the mean first"),
            (torchs, "uses `layer_norm`"),
            (torchs_class, "uses `layer_norm`"),
            (in_place, "changed its input `x`"),
            (detached, "no gradient reaches x"),
        ],
    },
}
