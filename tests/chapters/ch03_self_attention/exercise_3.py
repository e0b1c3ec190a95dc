"""Answers to exercise 3.3: right ones, and mistakes with the words that they must hear."""

import torch


def transpose_and_flatten(x):
    return x.transpose(1, 2).flatten(-2)


def one_by_one(heads):
    return torch.cat([heads[:, h] for h in range(heads.shape[1])], dim=-1)


def permute_and_reshape(x):
    batch, heads, length, size = x.shape
    return x.permute(0, 2, 1, 3).reshape(batch, length, heads * size)


def reshape_alone(x):
    return x.reshape(x.size(0), x.size(2), -1)


def flatten_alone(x):
    return x.flatten(-2)


def transpose_alone(x):
    return x.transpose(1, 2)


def view_alone(x):
    return x.view(x.size(0), x.size(2), -1)


def view_after_transpose(x):
    return x.transpose(1, 2).view(x.size(0), x.size(2), -1)


def entries_first(x):
    return x.permute(0, 2, 3, 1).flatten(-2)


def sizes_by_heart(x):
    return x.transpose(1, 2).reshape(2, 5, 12)


ANSWERS = {
    "3.3": {
        "accepted": [transpose_and_flatten, one_by_one, permute_and_reshape],
        "wrong": [
            (reshape_alone, "entries of other tokens. reshape alone takes all tokens of head 0"),
            (flatten_alone, "swap T and H first"),
            (transpose_alone, "join H and d to one axis"),
            (view_after_transpose, "reshape or flatten: they copy"),
            (view_alone, "the split did, before x came here"),
            (entries_first, "wrong order. All entries of head 0 should come first"),
            (sizes_by_heart, "But sizes_by_heart stopped"),
        ],
    }
}
