"""Answers to exercise 3.5: right ones, and mistakes with the words that they must hear."""

import torch


def keys_last(attention_mask, dtype):
    hidden = (attention_mask == 0)[:, None, None, :]
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min / 2)


def arithmetic(mask, dtype):
    return (1 - mask.to(dtype)).unsqueeze(1).unsqueeze(2) * (torch.finfo(dtype).min / 2)


def twenty(mask, dtype):
    return (1 - mask.to(dtype)).unsqueeze(1).unsqueeze(2) * -20


def two_hundred(mask, dtype):
    return (1 - mask.to(dtype)).unsqueeze(1).unsqueeze(2) * -200


def ten_thousand_added(mask, dtype):
    return (1 - mask.to(dtype)).unsqueeze(1).unsqueeze(2) * -1e4


def a_billion(mask, dtype):
    return (1 - mask.to(dtype)).unsqueeze(1).unsqueeze(2) * -1e9


def full_size(mask, dtype):
    batch, length = mask.shape
    wide = mask.view(batch, 1, 1, length).expand(batch, 1, length, length)
    return torch.where(wide.bool(), 0.0, torch.finfo(dtype).min / 4).to(dtype)


def unchanged(attention_mask, dtype):
    hidden = (attention_mask == 0)[:, None, :, None]
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min / 2)


def two_axes(attention_mask, dtype):
    return (1 - attention_mask.to(dtype)) * -1e4


def bias_upside_down(attention_mask, dtype):
    return attention_mask.to(dtype)[:, None, None, :] * -1e4


def bias_of_infinity(attention_mask, dtype):
    hidden = (attention_mask == 0)[:, None, None, :]
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, -torch.inf)


def bias_of_the_smallest(attention_mask, dtype):
    hidden = (attention_mask == 0)[:, None, None, :]
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min)


def the_mask_itself(attention_mask, dtype):
    return attention_mask.to(dtype)[:, None, None, :]


def boolean(attention_mask, dtype):
    return attention_mask.bool()[:, None, None, :]


def always_float32(attention_mask, dtype):
    return (1 - attention_mask.float())[:, None, None, :] * -1e4


def both_axes(attention_mask, dtype):
    keep = attention_mask[:, None, None, :] * attention_mask[:, None, :, None]
    return torch.where(keep.bool(), 0.0, torch.finfo(dtype).min / 2).to(dtype)


def infinity_times_zero(attention_mask, dtype):
    return (1 - attention_mask.to(dtype))[:, None, None, :] * -torch.inf


ANSWERS = {
    "3.5": {
        "accepted": [keys_last, arithmetic, full_size, both_axes],
        "wrong": [
            (unchanged, "one number to a whole row"),
            (two_axes, "scores have four axes"),
            (bias_upside_down, "mask is inverted"),
            (bias_of_infinity, "nan in float32"),
            (bias_of_the_smallest, "nan in float16"),
            (the_mask_itself, "of its attention to padding"),
            (twenty, "e-09 of its attention to padding"),
            (boolean, "a very negative number for a hidden one"),
            (always_float32, "says which dtype"),
            (infinity_times_zero, "multiplied by infinity"),
            (two_hundred, "-200 is not negative enough"),
            (ten_thousand_added, "not negative enough"),
            (a_billion, "nan in float16"),
        ],
    }
}
