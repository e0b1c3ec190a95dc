"""Answers to the exercises of chapter 4: right ones, and mistakes with the words that they must hear."""

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


# 4.3 -------------------------------------------------------------------------------------------------------------


def two_lines(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = attention_norm(x + attention(x))
    return feed_forward_norm(x + feed_forward(x))


def step_by_step(x, attend, norm_1, think, norm_2):
    for sublayer, norm in ((attend, norm_1), (think, norm_2)):
        update = sublayer(x)
        x = norm(update + x)
    return x


def pre_norm(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = x + attention(attention_norm(x))
    return x + feed_forward(feed_forward_norm(x))


def old_x(x, attention, attention_norm, feed_forward, feed_forward_norm):
    mixed = attention_norm(x + attention(x))
    return feed_forward_norm(x + feed_forward(mixed))


def no_residual(x, attention, attention_norm, feed_forward, feed_forward_norm):
    return feed_forward_norm(feed_forward(attention_norm(attention(x))))


def norm_of_update(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = x + attention_norm(attention(x))
    return x + feed_forward_norm(feed_forward(x))


def first_text_only(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = attention_norm(x + attention(x)[0])  # the package's attention returns two things, this one a tensor
    return feed_forward_norm(x + feed_forward(x))


def one_norm_twice(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = attention_norm(x + attention(x))
    return attention_norm(x + feed_forward(x))


def half(x, attention, attention_norm, feed_forward, feed_forward_norm):
    return attention_norm(x + attention(x))


def in_place(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x += attention(x)
    x = attention_norm(x)
    return feed_forward_norm(x + feed_forward(x))


ANSWERS = {
    "4.1": {
        "accepted": [[0.125, 3.375], (1 / 8, 27 / 8)],
        "wrong": [
            ([3.375, 0.125], "in the other order"),
            ([1.5, 4.5], "chain rule multiplies"),
            ([0.5, 1.5], "derivative of one layer"),
            ([0.125, 1.125], "around all three layers"),
            ([0.125, 2.5], "added three halves"),
            ([0.2, 3.0], "Three layers in a row"),
            (3.375, "is written like this"),
        ],
    },
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
    },
    "4.3": {
        "accepted": [two_lines, step_by_step],
        "wrong": [
            (pre_norm, "This is pre-norm"),
            (old_x, "second addition uses the original x"),
            (no_residual, "There is no residual connection"),
            (norm_of_update, "Add first, then normalize"),
            (first_text_only, "With [0] you keep only its first text"),
            (one_norm_twice, "use the first norm twice"),
            (half, "What follows it?"),
            (in_place, "changed its input `x` in place"),
        ],
    },
}
