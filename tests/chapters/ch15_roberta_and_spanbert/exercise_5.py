"""Answers to exercise 15.5: right ones, and mistakes with the words that they must hear."""

import torch


def running_sum(input_ids, padding):
    real = input_ids.ne(padding)
    return real.cumsum(dim=1) * real + padding


def as_in_the_library(input_ids, padding):
    mask = input_ids.ne(padding).int()
    return (torch.cumsum(mask, dim=-1).type_as(mask) * mask).long() + padding


def with_where(ids, padding):
    counts = (ids != padding).long().cumsum(1) + padding
    return torch.where(ids == padding, torch.full_like(ids, padding), counts)


def one_by_one(ids, padding):
    rows = []
    for row in ids.tolist():
        last, out = padding, []
        for token in row:
            last += token != padding
            out.append(last if token != padding else padding)
        rows.append(out)
    return torch.tensor(rows)


def colleagues(input_ids, padding):
    length = input_ids.size(1)
    return torch.arange(padding + 1, padding + 1 + length).expand_as(input_ids)


def as_in_bert(input_ids, padding):
    return torch.arange(input_ids.size(1)).expand_as(input_ids)


def padding_counted(input_ids, padding):
    return colleagues(input_ids, padding).masked_fill(input_ids == padding, padding)


def from_one(input_ids, padding):
    real = input_ids.ne(padding)
    return real.cumsum(1) * real


def from_zero(input_ids, padding):
    real = input_ids.ne(padding)
    return (real.cumsum(1) - 1).clamp(min=0) * real


def padding_forgotten(input_ids, padding):
    return input_ids.ne(padding).cumsum(1) + padding


def padding_at_zero(input_ids, padding):
    real = input_ids.ne(padding)
    return (real.cumsum(1) + padding) * real


def one_too_low(input_ids, padding):
    real = input_ids.ne(padding)
    return torch.where(real, real.cumsum(1) + padding - 1, padding)


def larger_ids_only(input_ids, padding):  # <s> has the id 0, below padding
    real = input_ids > padding
    return real.cumsum(1) * real + padding


def down_the_batch(input_ids, padding):
    real = input_ids.ne(padding)
    return real.cumsum(0) * real + padding


def the_padding(input_ids, padding):
    real = input_ids.eq(padding)
    return real.cumsum(1) * real + padding


def always_two(input_ids, padding):
    real = input_ids.ne(1)
    return real.cumsum(1) * real + 1


def offset_one(input_ids, padding):
    real = input_ids.ne(padding)
    return real.cumsum(1) * real + 1


def starts_at_two(input_ids, padding):
    real = input_ids.ne(padding)
    return torch.where(real, real.cumsum(1) + 1, padding)


def two_added(input_ids, padding):
    real = input_ids.ne(padding)
    return real.cumsum(1) * real + padding + 1


def without_an_axis(input_ids, padding):
    real = input_ids.ne(padding)
    return real.cumsum() * real + padding


def floats(input_ids, padding):
    return running_sum(input_ids, padding).float()


def one_row(input_ids, padding):
    return torch.arange(input_ids.size(1)) + padding + 1


def moved_by_left_padding_only(input_ids, padding):  # right unless padding stands inside
    real = input_ids.ne(padding)
    first = real.long().argmax(dim=1, keepdim=True)
    return torch.where(real, torch.arange(input_ids.size(1)) - first + padding + 1, padding)


ANSWERS = {
    "15.5": {
        "accepted": [running_sum, as_in_the_library, with_where, one_by_one],
        "wrong": [
            (colleagues, "You count all tokens"),
            (as_in_bert, "BERT's rule"),
            (padding_counted, "it is counted as well"),
            (from_one, "You count from 1"),
            (from_zero, "You count from 0"),
            (padding_forgotten, "Padding should get the position `padding`"),
            (padding_at_zero, "and not 0"),
            (one_too_low, "row 1 belongs to padding"),
            (larger_ids_only, "Is <s>, whose id is 0"),
            (down_the_batch, "down the batch"),
            (the_padding, "count the padding"),
            (always_two, "1 is an ordinary token"),
            (offset_one, "The offset should be `padding`"),
            (starts_at_two, "which is 4 here"),
            (two_added, "one too high"),
            (without_an_axis, "lie along dim=1"),
            (floats, "return integers"),
            (one_row, "Each token needs a position"),
            (moved_by_left_padding_only, "Count the real tokens"),
        ],
    }
}
