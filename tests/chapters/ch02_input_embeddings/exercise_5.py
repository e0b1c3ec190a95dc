"""Answers to exercise 2.5: right ones, and mistakes with the words that they must hear."""

from torch import nn


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
    }
}
