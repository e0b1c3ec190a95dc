"""Answers to the exercises of chapter 3: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def plainly(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(dim=-1)
    return weights @ value, weights


def with_einsum(q, k, v):
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    weights = torch.softmax(scores, -1)
    return [torch.einsum("bhij,bhjd->bhid", weights, v), weights]


def with_loops(query, key, value):
    weights = torch.stack(
        [torch.stack([(q @ k.T / k.shape[1] ** 0.5).softmax(1) for q, k in zip(*s)]) for s in zip(query, key)]  # noqa: B905
    )
    return weights.matmul(value), weights


def over_the_queries(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(dim=-2)
    return weights @ value, weights


def over_the_heads(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(dim=1)
    return weights @ value, weights


def undivided(query, key, value):
    weights = (query @ key.transpose(-2, -1)).softmax(dim=-1)
    return weights @ value, weights


def divided_by_d(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.size(-1)).softmax(dim=-1)
    return weights @ value, weights


def divided_by_two(query, key, value):
    weights = (query @ key.transpose(-2, -1) / 2).softmax(dim=-1)
    return weights @ value, weights


def value_transposed(query, key, value):
    weights = plainly(query, key, value)[1]
    return weights @ value.mT, weights


def without_an_axis(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax()
    return weights @ value, weights


def divided_by_root_eight(query, key, value):
    weights = (query @ key.transpose(-2, -1) / 8**0.5).softmax(dim=-1)
    return weights @ value, weights


def all_axes_reversed(query, key, value):
    scores = query @ key.T / query.size(-1) ** 0.5
    return scores.softmax(-1) @ value, scores.softmax(-1)


def key_as_it_is(query, key, value):
    weights = (query @ key / query.size(-1) ** 0.5).softmax(-1)
    return weights @ value, weights


def with_torch(query, key, value):
    size, length = query.shape[-1], query.shape[-2]
    weights = scaled_dot_product_attention(query, key, torch.eye(length).expand(*query.shape[:2], length, length))
    assert size == key.shape[-1]
    return scaled_dot_product_attention(query, key, value), weights


def divided_by_tokens(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.size(-2) ** 0.5).softmax(dim=-1)
    return weights @ value, weights


def without_softmax(query, key, value):
    weights = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    return weights @ value, weights


def axes_reversed(query, key, value):
    return plainly(query, key.permute(3, 2, 1, 0), value)


def exchanged(query, key, value):
    return plainly(key, query, value)


def mixing_keys(query, key, value):
    return plainly(query, key, key)


def only_values(query, key, value):
    return plainly(query, key, value)[0]


def other_order(query, key, value):
    return plainly(query, key, value)[::-1]


def detached(query, key, value):
    values, weights = plainly(query, key, value)
    return values.detach(), weights


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


def keys_in_rows(query, key, value):
    weights = (key @ query.mT / query.size(-1) ** 0.5).softmax(-2)
    return weights.mT @ value, weights


ANSWERS = {
    "3.1": {
        "accepted": [1 / 3, 0.33, 0.333],
        "wrong": [
            (0, "does not give a weight of 0"),
            (1, "Divide it by the sum"),
            (0.5, "right for two tokens"),
            (0.11, "the row of [MASK]"),
            (0.67, "lamp attends to itself"),
            (0.09, "the other direction"),
            (33, "a percentage"),
            (33.3, "a percentage"),
            (0.3, "give one decimal more"),
            (-0.33, "never negative"),
            (0.25, "compute the three scores"),
            ("a third", "written like this"),
        ],
    },
    "3.2": {
        "accepted": [plainly, with_einsum, with_loops],
        "wrong": [
            (with_torch, "uses torch's `scaled_dot_product_attention`"),
            (keys_in_rows, "the weights are transposed"),
            (over_the_queries, "softmax runs over the queries"),
            (over_the_heads, "softmax runs over the heads"),
            (undivided, "keeps the scores small"),
            (divided_by_d, "flatter than they should be"),
            (divided_by_two, "There d was 4"),
            (value_transposed, "weights @ value needs no swap"),
            (without_an_axis, "Along which axis"),
            (divided_by_root_eight, "the same number as at d = 8"),
            (all_axes_reversed, "reverses all axes"),
            (key_as_it_is, "the last two axes of key swapped"),
            (divided_by_tokens, "divided by √T"),
            (without_softmax, "Is there a softmax"),
            (axes_reversed, "But axes_reversed stopped"),
            (exchanged, "query and key swapped"),
            (mixing_keys, "they average the keys"),
            (only_values, "2 things are asked for"),
            (other_order, "in the wrong order"),
            (detached, "cut off from its inputs"),
        ],
    },
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
    },
}
