"""Answers to exercise 3.2: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def plainly(query, key, value, softmax=torch.softmax):
    weights = softmax(query @ key.transpose(-2, -1) / query.size(-1) ** 0.5, dim=-1)
    return weights @ value, weights


def with_einsum(q, k, v, normalize=torch.softmax):
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    weights = normalize(scores, -1)
    return [torch.einsum("bhij,bhjd->bhid", weights, v), weights]


def with_loops(query, key, value, softmax=torch.softmax):
    scores = torch.stack([torch.stack([q @ k.T / k.shape[1] ** 0.5 for q, k in zip(*s)]) for s in zip(query, key)])  # noqa: B905
    weights = softmax(scores, dim=scores.dim() - 1)
    return weights.matmul(value), weights


def without_the_given_softmax(query, key, value, softmax=torch.softmax):
    weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(dim=-1)
    return weights @ value, weights


def three_parameters(query, key, value):
    return plainly(query, key, value)


def a_softmax_for_each_text(query, key, value, softmax=torch.softmax):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    weights = torch.stack([softmax(one, dim=-1) for one in scores])
    return weights @ value, weights


def without_its_axis(query, key, value, softmax=lambda scores: scores.softmax(-1)):
    weights = softmax(query @ key.transpose(-2, -1) / query.size(-1) ** 0.5)
    return weights @ value, weights


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


def keys_in_rows(query, key, value):
    weights = (key @ query.mT / query.size(-1) ** 0.5).softmax(-2)
    return weights.mT @ value, weights


ANSWERS = {
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
            (without_the_given_softmax, "that softmax was never called"),
            (three_parameters, "It gets a fourth argument here"),
            (a_softmax_for_each_text, "was called 2 times"),
            (without_its_axis, "Tell it the axis of the keys"),
        ],
    }
}
