"""Answers to exercise 19.2: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import gelu, linear


def gelu_at_the_end(x, expand, shrink):
    first, second = (x @ expand.T).chunk(2, dim=-1)
    return gelu((first * second) @ shrink.T)


def shrunk_apart(x, expand, shrink):
    first, second = (x @ expand.T).chunk(2, dim=-1)
    return (gelu(first) @ shrink.T) * (second @ shrink.T)


def plainly(x, expand, shrink):
    activated, gate = (x @ expand.T).chunk(2, dim=-1)
    return (gelu(activated) * gate) @ shrink.T


def with_linear(x, expand, shrink):
    inner = linear(x, expand)
    size = inner.size(-1) // 2
    return linear(torch.nn.GELU()(inner[..., :size]) * inner[..., size:], shrink)


def two_products(x, expand, shrink):
    size = len(expand) // 2
    return torch.einsum("bti,di->btd", gelu(x @ expand[:size].T) * (x @ expand[size:].T), shrink)


def by_the_formula(x, expand, shrink):
    a, g = torch.tensor_split(x @ expand.T, 2, dim=-1)
    return (0.5 * a * (1 + torch.erf(a / 2**0.5)) * g) @ shrink.T


def swapped(x, expand, shrink):
    gate, activated = (x @ expand.T).chunk(2, dim=-1)
    return (gelu(activated) * gate) @ shrink.T


def both_activated(x, expand, shrink):
    a, g = gelu(x @ expand.T).chunk(2, dim=-1)
    return (a * g) @ shrink.T


def no_gate(x, expand, shrink):
    return gelu((x @ expand.T).chunk(2, dim=-1)[0]) @ shrink.T


def after_the_product(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2, dim=-1)
    return gelu(a * g) @ shrink.T


def added(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2, dim=-1)
    return (gelu(a) + g) @ shrink.T


def sigmoid(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2, dim=-1)
    return (a.sigmoid() * g) @ shrink.T


def swish(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2, dim=-1)
    return (torch.nn.functional.silu(a) * g) @ shrink.T


def second_through_a_sigmoid(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2, dim=-1)
    return (a * g.sigmoid()) @ shrink.T


def every_second(x, expand, shrink):
    inner = x @ expand.T
    return (gelu(inner[..., 0::2]) * inner[..., 1::2]) @ shrink.T


def tanh_form(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2, dim=-1)
    return (gelu(a, approximate="tanh") * g) @ shrink.T


def not_transposed(x, expand, shrink):
    a, g = (x @ expand).chunk(2, dim=-1)
    return (gelu(a) * g) @ shrink


def transposed_where_needed(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2, dim=-1)
    return (gelu(a) * g) @ (shrink if shrink.size(0) == shrink.size(1) else shrink.T)


def first_axis(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2)
    return (gelu(a) * g) @ shrink.T


def without_shrink(x, expand, shrink):
    a, g = (x @ expand.T).chunk(2, dim=-1)
    return gelu(a) * g


ANSWERS = {
    "19.2": {
        "accepted": [plainly, with_linear, two_products, by_the_formula],
        "wrong": [
            (swapped, "The halves are swapped"),
            (gelu_at_the_end, "applied it to the end result"),
            (shrunk_apart, "then shrink once"),
            (both_activated, "Both halves go through GELU"),
            (no_gate, "second half is missing"),
            (after_the_product, "GELU to the product"),
            (added, "The gate multiplies"),
            (sigmoid, "with a sigmoid"),
            (swish, "This is SwiGLU"),
            (second_through_a_sigmoid, "not the second one through a sigmoid"),
            (every_second, "every second number"),
            (tanh_form, "tanh form"),
            (not_transposed, "[outputs, inputs]"),
            (transposed_where_needed, "didn't transpose it"),
            (first_axis, "cut the last axis"),
            (without_shrink, "with shrink"),
        ],
    }
}
