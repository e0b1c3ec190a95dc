"""Answers to exercise 14.5: right ones, and mistakes with the words that they must hear."""

import torch


def by_triu(attention_mask):
    size = attention_mask.size(1)
    hidden = torch.ones(size, size).triu(diagonal=1).bool() | (attention_mask == 0)[:, None, None, :]
    return hidden.float() * -1e9


def by_positions(attention_mask):
    at = torch.arange(attention_mask.size(1))
    may = (at[:, None] >= at) & attention_mask.bool()[:, None, None]
    return torch.zeros(may.shape).masked_fill(~may, torch.finfo(torch.float).min)


def only_padding(attention_mask):
    size = attention_mask.size(1)
    return ((attention_mask == 0)[:, None, None, :].float() * -1e9).expand(-1, 1, size, size)


def only_causal(attention_mask):
    size = attention_mask.size(1)
    return (torch.ones(size, size).triu(1) * -1e9).expand(len(attention_mask), 1, size, size)


def without_itself(attention_mask):
    size = attention_mask.size(1)
    hidden = torch.ones(size, size).triu(diagonal=0).bool() | (attention_mask == 0)[:, None, None, :]
    return hidden.float() * -1e9


def endless_without_itself(attention_mask):
    return torch.zeros(()).masked_fill(without_itself(attention_mask) < 0, -torch.inf)


def to_the_right(attention_mask):
    size = attention_mask.size(1)
    hidden = torch.ones(size, size).tril(diagonal=-1).bool() | (attention_mask == 0)[:, None, None, :]
    return hidden.float() * -1e9


def ones_and_zeros(attention_mask):
    return (by_triu(attention_mask) == 0).float()


def true_or_false(attention_mask):
    return by_triu(attention_mask) < 0


def flat(attention_mask):
    return by_triu(attention_mask)[:, 0]


def minus_infinity(attention_mask):
    return torch.zeros(()).masked_fill(by_triu(attention_mask) < 0, -torch.inf)


def zero_times_infinity(attention_mask):
    size = attention_mask.size(1)
    causal = torch.triu(torch.ones(size, size), 1) * -torch.inf
    return causal + by_triu(attention_mask)


def padding_on_the_right(attention_mask):
    at = torch.arange(attention_mask.size(1))
    hidden = (at > at[:, None]) | (at >= attention_mask.sum(1)[:, None])[:, None, None]
    return hidden.float() * -1e9


def nothing_for_queries_of_padding(attention_mask):
    return by_triu(attention_mask) * attention_mask[:, None, :, None]


def padding_attends_to_itself(attention_mask):
    own = torch.eye(attention_mask.size(1)).bool() & (attention_mask == 0)[:, None, None, :]
    return by_triu(attention_mask).masked_fill(own, 0.0)


def minus_ten(attention_mask):
    return by_triu(attention_mask) / 1e8


def both_at_once(attention_mask):
    size = attention_mask.size(1)
    hidden = torch.ones(size, size).triu(diagonal=1).bool() & (attention_mask == 0)[:, None, None, :]
    return hidden.float() * -1e9


ANSWERS = {
    "14.5": {
        "accepted": [by_triu, by_positions, padding_attends_to_itself],
        "wrong": [
            (nothing_for_queries_of_padding, "where the query is padding"),
            (only_padding, "Hide all keys on the right"),
            (only_causal, "both masks belong together"),
            (without_itself, "a token does not attend to itself"),
            (endless_without_itself, "some weights are nan"),
            (to_the_right, "other way round"),
            (ones_and_zeros, "hides nothing"),
            (true_or_false, "added to the scores"),
            (flat, "queries, then keys"),
            (minus_infinity, "spreads to the text"),
            (zero_times_infinity, "0 times minus infinity"),
            (padding_on_the_right, "written in the mask"),
            (minus_ten, "far more negative number"),
            (both_at_once, "Hide all keys on the right"),
        ],
    }
}
