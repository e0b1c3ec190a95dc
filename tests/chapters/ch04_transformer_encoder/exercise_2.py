"""Answers to exercise 4.2: right ones, and mistakes with the words that they must hear."""

import math

import torch
from torch.nn.functional import gelu, relu

# 4.2 -------------------------------------------------------------------------------------------------------------


def by_formula(x, tanh=False):
    if tanh:
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def with_another_name(z, approximate=False):
    return by_formula(z, approximate)


def torchs_own(x, tanh=False):
    return gelu(x, approximate="tanh" if tanh else "none")


def the_module(x, tanh=False):
    return torch.nn.GELU("tanh" if tanh else "none")(x)


def torchs_root_of_a_number(x, tanh=False):
    return 0.5 * x * (1 + torch.erf(x / torch.sqrt(2)))


def by_normal_distribution(x, tanh=False):
    inner = (2 / math.pi) ** 0.5 * x * (1 + 0.044715 * x * x)
    return x * ((1 + inner.tanh()) / 2 if tanh else torch.special.ndtr(x))


def phi_alone(x, tanh=False):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def undivided(x, tanh=False):
    return 0.5 * x * (1 + torch.erf(x))


def divided_outside(x, tanh=False):
    return 0.5 * x * (1 + torch.erf(x) / math.sqrt(2))


def silu(x, tanh=False):
    return x * torch.sigmoid(x)


def only_relu(x, tanh=False):
    return relu(x)


def always_exact(x, tanh=False):
    return by_formula(x)


def without_cube(x, tanh=False):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * x)) if tanh else by_formula(x)


def bracket(x, tanh=False):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * x + 0.044715 * x**3)) if tanh else by_formula(x)


def with_math(x, tanh=False):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def detached(x, tanh=False):
    return by_formula(x.detach(), tanh)


ANSWERS = {
    "4.2": {
        "accepted": [by_formula, by_normal_distribution, with_another_name],
        "wrong": [
            (torchs_own, "uses torch's `gelu`"),
            (the_module, "uses torch's `gelu`"),
            (torchs_root_of_a_number, "For a single number use those of math"),
            (phi_alone, "GELU is x times"),
            (undivided, "must be divided by √2"),
            (divided_outside, "belongs inside erf"),
            (silu, "called SiLU"),
            (only_relu, "This is relu"),
            (always_exact, "does not use `tanh`"),
            (without_cube, "cubic term is missing"),
            (bracket, "whole bracket"),
            (with_math, "For tensors use torch.erf"),
            (detached, "cut off from its inputs"),
        ],
    }
}
