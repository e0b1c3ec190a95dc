"""Answers to exercise 3.4: right ones, and mistakes with the words that they must hear."""

import torch


def fill_and_multiply(scores, keep):
    return scores.masked_fill(~keep, torch.finfo(scores.dtype).min).softmax(dim=-1) * keep


def by_hand(scores, keep):
    highest = scores.masked_fill(~keep, torch.finfo(scores.dtype).min).amax(-1, keepdim=True).detach()
    powers = torch.where(keep, scores - highest, 0).exp() * keep
    return powers / powers.sum(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)


def with_where(scores, keep):
    weights = torch.where(keep, scores, torch.finfo(scores.dtype).min / 2).softmax(-1)
    return torch.where(keep, weights, 0.0)


def multiply_after(scores, keep):
    return scores.softmax(-1) * keep


def renormalized(scores, keep):
    weights = scores.softmax(-1) * keep
    return weights / weights.sum(-1, keepdim=True).clamp_min(1e-9)


def renormalized_without_floor(scores, keep):
    weights = scores.softmax(-1) * keep
    return weights / weights.sum(-1, keepdim=True)


def powers_then_mask(scores, keep):
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * keep
    return powers / (powers.sum(-1, keepdim=True) + 1e-9)


def upside_down_after(scores, keep):
    return scores.softmax(-1) * ~keep


def upside_down_twice(scores, keep):
    return scores.masked_fill(keep, torch.finfo(scores.dtype).min).softmax(-1) * ~keep


def upside_down_then_right(scores, keep):
    return scores.masked_fill(keep, torch.finfo(scores.dtype).min).softmax(-1) * keep


def zero_before(scores, keep):
    return (scores * keep).softmax(-1)


def upside_down(scores, keep):
    return scores.masked_fill(keep, -1e9).softmax(-1)


def forgotten(scores, keep):
    scores.clone().masked_fill(~keep, -1e9)
    return scores.softmax(-1)


def infinity(scores, keep):
    return scores.masked_fill(~keep, -torch.inf).softmax(-1)


def filled_then_painted_over(scores, keep):  # masked_fill stops the gradient of what it filled, so no nan gets out
    return scores.masked_fill(~keep, -torch.inf).softmax(-1).nan_to_num()


def painted_over(scores, keep):
    bias = torch.zeros(keep.shape, dtype=scores.dtype).masked_fill(~keep, -torch.inf)
    return (scores + bias).softmax(-1).nan_to_num()


def painted_over_with_where(scores, keep):
    bias = torch.zeros(keep.shape, dtype=scores.dtype).masked_fill(~keep, -torch.inf)
    weights = (scores + bias).softmax(-1)
    return torch.where(weights.isnan(), 0.0, weights)


def finite_only(scores, keep):
    return scores.masked_fill(~keep, torch.finfo(scores.dtype).min).softmax(-1)


def ten_thousand(scores, keep):
    return scores.masked_fill(~keep, -1e4).softmax(-1) * keep


def a_billion_in_every_type(scores, keep):
    return scores.masked_fill(~keep, -1e9).softmax(-1) * keep


def in_place(scores, keep):
    return scores.masked_fill_(~keep, torch.finfo(scores.dtype).min).softmax(-1) * keep


def beyond_float32(scores, keep):
    return scores.masked_fill(~keep, -1e39).softmax(-1) * keep


def queries_hidden(scores, keep):
    return scores.masked_fill(~keep.mT, torch.finfo(scores.dtype).min).softmax(-1) * keep


def powers_of_what_is_visible(scores, keep):
    powers = scores.masked_fill(~keep, -torch.inf).exp()
    return powers / powers.sum(-1, keepdim=True).clamp_min(1e-9)


def weights_times_keep_in_place(scores, keep):
    weights = scores.masked_fill(~keep, torch.finfo(scores.dtype).min).softmax(-1)
    weights *= keep
    return weights


ANSWERS = {
    "3.4": {
        "accepted": [fill_and_multiply, by_hand, with_where, filled_then_painted_over],
        "wrong": [
            (multiply_after, "removed that part afterwards"),
            (multiply_after, "sums to 0.13"),
            (renormalized, "too little is left to divide by"),
            (renormalized_without_floor, "too little is left to divide by"),
            (powers_then_mask, "Hide the keys first"),
            (upside_down_after, "mask is inverted"),
            (upside_down_twice, "mask is inverted"),
            (upside_down_then_right, "mask is inverted"),
            (zero_before, "a score of 0 is not hidden"),
            (upside_down, "mask is inverted"),
            (forgotten, "continue with the old one"),
            (infinity, "its weights are nan"),
            (painted_over, "the gradient is nan"),
            (painted_over_with_where, "with nan_to_num or where"),
            (finite_only, "equal weights"),
            (ten_thousand, "softmax gives attention to padding: your fill is not negative enough"),
            (a_billion_in_every_type, "does not fit into the dtype"),
            (beyond_float32, "does not fit into the dtype"),
            (queries_hidden, "Softmax gave a part of the attention to padding"),
            (in_place, "in place"),
            (powers_of_what_is_visible, "e to such a score rounds to 0"),
            (weights_times_keep_in_place, "the backward pass failed"),
        ],
    }
}
