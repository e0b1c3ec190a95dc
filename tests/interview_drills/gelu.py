"""Answers to the drill gelu: right ones, and mistakes with the words that they must hear."""

import math

import torch
from torch.distributions import Normal
from torch.nn import functional


def phi(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def density(x):
    return torch.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)


ROOT = math.sqrt(2 / math.pi)


def tanh_form(x, factor=ROOT, power=3):
    return 0.5 * x * (1 + torch.tanh(factor * (x + 0.044715 * x**power)))


def plainly(x):
    return x * phi(x), tanh_form(x), phi(x) + x * density(x)


def by_distributions(x):
    normal = Normal(0.0, 1.0)
    inner = (2 / torch.pi) ** 0.5 * x * (1 + 0.044715 * x * x)
    return [x * normal.cdf(x), x / (1 + torch.exp(-2 * inner)), normal.cdf(x) + x * normal.log_prob(x).exp()]


def by_ndtr(x):
    below = torch.special.ndtr(x)
    fitted = x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3)))
    return torch.mul(x, below), fitted, torch.addcmul(below, x, density(x))


def only_the_exact(x):
    return x * phi(x)


def without_root_two(x):
    return 0.5 * x * (1 + torch.erf(x)), tanh_form(x), phi(x) + x * density(x)


def without_x(x):
    return phi(x), tanh_form(x), phi(x) + x * density(x)


def swish(x):
    return x * torch.sigmoid(x), tanh_form(x), phi(x) + x * density(x)


def in_another_order(x):
    return tanh_form(x), x * phi(x), phi(x) + x * density(x)


def two_over_pi(x):
    return x * phi(x), tanh_form(x, 2 / math.pi), phi(x) + x * density(x)


def squared(x):
    return x * phi(x), tanh_form(x, power=2), phi(x) + x * density(x)


def no_factor(x):
    return x * phi(x), tanh_form(x, 1.0), phi(x) + x * density(x)


def first_term_only(x):
    return x * phi(x), tanh_form(x), phi(x)


def no_x_in_the_second(x):
    return x * phi(x), tanh_form(x), phi(x) + density(x)


def unnormalized(x):
    return x * phi(x), tanh_form(x), phi(x) + x * torch.exp(-x * x / 2)


def exponent_not_halved(x):
    return x * phi(x), tanh_form(x), phi(x) + x * torch.exp(-x * x) / math.sqrt(2 * math.pi)


def by_autograd(x):
    leaf = x.detach().requires_grad_()
    return x * phi(x), tanh_form(x), torch.autograd.grad((leaf * phi(leaf)).sum(), leaf)[0]


def torchs(x):
    return functional.gelu(x), functional.gelu(x, approximate="tanh"), phi(x) + x * density(x)


def with_math(x):
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2))), tanh_form(x), phi(x)


def overflowing(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    tanh = (inner.exp() - (-inner).exp()) / (inner.exp() + (-inner).exp())
    return x * phi(x), 0.5 * x * (1 + tanh), phi(x) + x * density(x)


ANSWERS = {
    "gelu": {
        "accepted": [plainly, by_distributions, by_ndtr],
        "wrong": [
            (only_the_exact, "3 things are asked for"),
            (without_root_two, "x is divided by √2"),
            (without_x, "This is Φ(x) alone"),
            (swish, "called SiLU"),
            (in_another_order, "The exact one comes first"),
            (two_over_pi, "you use 2/π"),
            (squared, "the third power"),
            (no_factor, "√(2/π) is missing"),
            (first_term_only, "x · Φ'(x) is missing"),
            (no_x_in_the_second, "needs a factor x"),
            (unnormalized, "divided by √(2π)"),
            (exponent_not_halved, "yours is -x²"),
            (by_autograd, "uses torch's `run_backward`"),
            (torchs, "uses torch's `gelu`"),
            (with_math, "For tensors use torch.erf"),
            (overflowing, "nothing may become nan"),
        ],
    },
}
