"""Answers to exercise 2.4: right ones, and mistakes with the words that they must hear."""

import torch


def running_sum(attention_mask):
    return (attention_mask.cumsum(dim=1) - 1).clamp(min=0)


def zero_for_padding(attention_mask):
    return (attention_mask.cumsum(dim=-1) - 1) * attention_mask


def one_by_one(mask):
    rows = []
    for row in mask.tolist():
        positions, count = [], 0
        for real in row:
            positions.append(count if real else 0)
            count += real
        rows.append(positions)
    return torch.tensor(rows)


def padding_at_the_last_row(attention_mask):
    return (attention_mask.cumsum(dim=1) - 1).masked_fill(attention_mask == 0, 511)


def padding_at_the_end(attention_mask):
    last = attention_mask.size(1) - 1
    return (attention_mask.cumsum(dim=1) - 1).masked_fill(attention_mask == 0, last)


def padding_at_one(attention_mask):  # as `generate` of transformers does
    return (attention_mask.long().cumsum(-1) - 1).masked_fill(attention_mask == 0, 1)


def beyond_the_table(attention_mask):
    return (attention_mask.cumsum(dim=1) - 1).masked_fill(attention_mask == 0, 512)


def padding_counted(attention_mask):
    return torch.arange(attention_mask.size(1)).expand_as(attention_mask)


def below_zero(attention_mask):
    return attention_mask.cumsum(dim=1) - 1


def counting_from_one(attention_mask):
    return attention_mask.cumsum(dim=1).clamp(max=attention_mask.size(1) - 1)


def too_far(attention_mask):
    return attention_mask.cumsum(dim=1)


def down_the_batch(attention_mask):
    return (attention_mask.cumsum(dim=0) - 1).clamp(min=0)


def backwards(attention_mask):
    return (attention_mask.flip(1).cumsum(1) - 1).flip(1).clamp(min=0)


def floats(attention_mask):
    return (attention_mask.float().cumsum(dim=1) - 1).clamp(min=0)


def one_row(attention_mask):
    return torch.arange(attention_mask.size(1))


def shifted_by_padding(attention_mask):  # right for padding on the left only
    padding = (attention_mask == 0).sum(dim=1, keepdim=True)
    return (torch.arange(attention_mask.size(1)) - padding).clamp(min=0)


ANSWERS = {
    "2.4": {
        "accepted": [running_sum, zero_for_padding, one_by_one, padding_at_the_end, padding_at_one],
        "wrong": [
            (padding_counted, "first real token of every sequence"),
            (beyond_the_table, "Only 0 to T - 1 exist for sure"),
            (padding_at_the_last_row, "a position 511 in a text of 5 tokens"),
            (below_zero, "no such row"),
            (counting_from_one, "Count the real tokens"),
            (too_far, "count from 1"),
            (down_the_batch, "count along the batch"),
            (backwards, "run backwards"),
            (floats, "return integers"),
            (one_row, "needs one position"),
            (shifted_by_padding, "must still work"),
        ],
    }
}
