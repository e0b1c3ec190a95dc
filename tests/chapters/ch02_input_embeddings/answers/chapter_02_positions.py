"""Answers to exercises 2.4 and 2.5: right ones, and mistakes with the words that they must hear."""

import torch
from torch import nn


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


def repaired(vocab_size, max_positions, segments, hidden_size):
    token = nn.Embedding(vocab_size, hidden_size, padding_idx=0)
    return token, nn.Embedding(max_positions, hidden_size), nn.Embedding(segments, hidden_size)


def as_a_list(vocab_size, max_positions, segments, hidden_size):
    tables = [nn.Embedding(rows, hidden_size) for rows in (vocab_size, max_positions, segments)]
    tables[0].padding_idx = 0
    return tables


def still_broken(vocab_size, max_positions, segments, hidden_size):
    return tuple(nn.Embedding(rows, hidden_size, padding_idx=0) for rows in (vocab_size, max_positions, segments))


def none_at_all(vocab_size, max_positions, segments, hidden_size):
    return tuple(nn.Embedding(rows, hidden_size) for rows in (vocab_size, max_positions, segments))


def only_positions(vocab_size, max_positions, segments, hidden_size):
    token, position, _ = repaired(vocab_size, max_positions, segments, hidden_size)
    return token, position, nn.Embedding(segments, hidden_size, padding_idx=0)


def padding_at_positions_only(vocab_size, max_positions, segments, hidden_size):
    token, _, token_type = none_at_all(vocab_size, max_positions, segments, hidden_size)
    return token, nn.Embedding(max_positions, hidden_size, padding_idx=0), token_type


def moved_to_the_end(vocab_size, max_positions, segments, hidden_size):
    token, _, token_type = repaired(vocab_size, max_positions, segments, hidden_size)
    return token, nn.Embedding(max_positions, hidden_size, padding_idx=max_positions - 1), token_type


def another_padding(vocab_size, max_positions, segments, hidden_size):
    _, position, token_type = repaired(vocab_size, max_positions, segments, hidden_size)
    return nn.Embedding(vocab_size, hidden_size, padding_idx=1), position, token_type


def transposed(vocab_size, max_positions, segments, hidden_size):
    return tuple(nn.Embedding(hidden_size, rows) for rows in (vocab_size, max_positions, segments))


def in_another_order(vocab_size, max_positions, segments, hidden_size):
    token, position, token_type = repaired(vocab_size, max_positions, segments, hidden_size)
    return token, token_type, position


def tokens_only(vocab_size, max_positions, segments, hidden_size):
    return nn.Embedding(vocab_size, hidden_size, padding_idx=0)


ANSWERS = {
    "2.4": {
        "accepted": [running_sum, zero_for_padding, one_by_one, padding_at_the_last_row, padding_at_one],
        "wrong": [
            (padding_counted, "first real token of every sequence"),
            (beyond_the_table, "are 0 to 511"),
            (below_zero, "no such row"),
            (counting_from_one, "Count the real tokens"),
            (too_far, "count from 1"),
            (down_the_batch, "count along the batch"),
            (backwards, "run backwards"),
            (floats, "return integers"),
            (one_row, "needs one position"),
            (shifted_by_padding, "must still work"),
        ],
    },
    "2.5": {
        "accepted": [repaired, as_a_list],
        "wrong": [
            (still_broken, "first one of every sequence"),
            (padding_at_positions_only, "Which token has position 0"),
            (none_at_all, "keep its padding_idx"),
            (only_positions, "Which tokens have segment 0"),
            (moved_to_the_end, "Every row of this table is in use"),
            (another_padding, "[PAD] has id 0"),
            (transposed, "one row for each id"),
            (in_another_order, "in another order"),
            (tokens_only, "3 things are asked for"),
        ],
    },
}
