"""Answers to the drill encoder-layer: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import gelu, linear, relu


def one_rule_for_both(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    halves = ((attention, norm_1), (lambda y: linear(gelu(linear(y, w_1.T, b_1)), w_2.T, b_2), norm_2))
    for half, norm in halves:
        update = half(norm(x) if pre_norm else x)
        x = x + update if pre_norm else norm(x + update)
    return x


def with_erf(x, att, w_1, b_1, w_2, b_2, n1, n2, pre_norm):
    same = torch.nn.Identity()
    before_1, after_1, before_2, after_2 = (n1, same, n2, same) if pre_norm else (same, n1, same, n2)
    h = after_1(torch.add(att(before_1(x)), x))
    inner = torch.einsum("btd,de->bte", before_2(h), w_1) + b_1
    return after_2(h + (inner * 0.5 * (1 + torch.erf(inner / 2**0.5))).matmul(w_2).add(b_2))


def always_post(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    return one_rule_for_both(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, False)


def inverted(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    return one_rule_for_both(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, not pre_norm)


def no_residuals(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    return norm_2(gelu(norm_1(attention(x)) @ w_1 + b_1) @ w_2 + b_2)


def original_x_twice(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    first = norm_1(x + attention(x))
    return norm_2(x + gelu(first @ w_1 + b_1) @ w_2 + b_2)


def one_norm(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    return one_rule_for_both(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_1, pre_norm)


def with_relu(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    x = norm_1(x + attention(x))
    return norm_2(x + relu(x @ w_1 + b_1) @ w_2 + b_2)


def with_tanh(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    x = norm_1(x + attention(x))
    return norm_2(x + gelu(x @ w_1 + b_1, approximate="tanh") @ w_2 + b_2)


def no_activation(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    x = norm_1(x + attention(x))
    return norm_2(x + (x @ w_1 + b_1) @ w_2 + b_2)


def no_biases(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    return one_rule_for_both(x, attention, w_1, 0 * b_1, w_2, 0 * b_2, norm_1, norm_2, pre_norm)


def residual_after_the_norm(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    if not pre_norm:
        return one_rule_for_both(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, False)
    x = norm_1(x)
    x = x + attention(x)
    x = norm_2(x)
    return x + gelu(x @ w_1 + b_1) @ w_2 + b_2


def normed_at_the_end(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    result = one_rule_for_both(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm)
    return norm_2(result) if pre_norm else result


def side_by_side(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    if not pre_norm:
        return one_rule_for_both(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, False)
    return x + attention(norm_1(x)) + gelu(norm_2(x) @ w_1 + b_1) @ w_2 + b_2


def transposed(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    return one_rule_for_both(x, attention, w_1.T, b_1, w_2.T, b_2, norm_1, norm_2, pre_norm)


def half_a_layer(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    return x + attention(norm_1(x)) if pre_norm else norm_1(x + attention(x))


def in_place(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    x += attention(norm_1(x)) if pre_norm else attention(x)
    x = x if pre_norm else norm_1(x)
    y = gelu((norm_2(x) if pre_norm else x) @ w_1 + b_1) @ w_2 + b_2
    return x + y if pre_norm else norm_2(x + y)


def torchs(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    return torch.nn.TransformerEncoderLayer(x.size(-1), 1, batch_first=True, norm_first=pre_norm)(x)


ANSWERS = {
    "encoder-layer": {
        "accepted": [one_rule_for_both, with_erf],
        "wrong": [
            (always_post, "This is post-norm"),
            (inverted, "This is pre-norm"),
            (no_residuals, "There is no residual connection"),
            (original_x_twice, "adds the original x"),
            (one_norm, "norm_1 twice"),
            (with_relu, "The activation is ReLU"),
            (with_tanh, "the tanh form of GELU"),
            (no_activation, "There is no activation"),
            (no_biases, "The biases are missing"),
            (residual_after_the_norm, "carries x itself"),
            (normed_at_the_end, "one norm too many"),
            (side_by_side, "side by side"),
            (transposed, "[D, 4D] widens"),
            (half_a_layer, "feed-forward half is missing"),
            (in_place, "changed its input `x`"),
            (torchs, "uses `TransformerEncoderLayer`"),
        ],
    },
}
