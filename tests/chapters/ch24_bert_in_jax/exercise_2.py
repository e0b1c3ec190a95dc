"""Answers to exercise 24.2: right ones, and mistakes with the words that they must hear."""

import jax
import jax.numpy as jnp
import numpy as np
import torch

# 24.2 ----------------------------------------------------------------------------------------------------------------


def one_head(query, key, value, mask):
    scores = query @ key.T / query.shape[-1] ** 0.5
    return jax.nn.softmax(jnp.where(mask, scores, -1e9)) @ value


def by_vmap(query, key, value, mask):
    heads = jax.vmap(one_head, in_axes=(0, 0, 0, None))
    return jax.vmap(heads)(query, key, value, mask)


def at_once(query, key, value, mask):
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, key) / jnp.sqrt(query.shape[-1])
    scores = scores + jnp.where(mask, 0.0, jnp.finfo(jnp.float32).min / 2)[:, None, None]
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), value)


def token_by_token(query, key, value, mask):
    def one(q, key, value, mask):  # one query [d]
        powers = jnp.where(mask, jnp.exp(key @ q / len(q) ** 0.5), 1e-30)
        return powers @ value / powers.sum()

    mapped = jax.vmap(one, in_axes=(0, None, None, None))
    for axes in ((0, 0, 0, None), 0):
        mapped = jax.vmap(mapped, in_axes=axes)
    return mapped(query, key, value, mask)


def mapped(one, axes=(0, 0, 0, None)):
    return lambda q, k, v, mask: jax.vmap(jax.vmap(one, in_axes=axes))(q, k, v, mask)


def undivided(query, key, value, mask):
    return by_vmap(query * query.shape[-1] ** 0.5, key, value, mask)


def over_queries(query, key, value, mask):
    def one(q, k, v, mask):
        return jax.nn.softmax(jnp.where(mask, q @ k.T / 2, -1e9), axis=0) @ v

    return mapped(one)(query, key, value, mask)


def unmasked(query, key, value, mask):
    return by_vmap(query, key, value, jnp.ones_like(mask))


def masked_with_zero(query, key, value, mask):
    return mapped(lambda q, k, v, m: jax.nn.softmax(q @ k.T / 2 * m) @ v)(query, key, value, mask)


def masked_afterwards(query, key, value, mask):
    return mapped(lambda q, k, v, m: (jax.nn.softmax(q @ k.T / 2) * m) @ v)(query, key, value, mask)


def masked_rows(query, key, value, mask):
    def one(q, k, v, m):
        return jax.nn.softmax(jnp.where(m[:, None], q @ k.T / 2, -1e9)) @ v

    return mapped(one)(query, key, value, mask)


def mask_mapped_over_heads(query, key, value, mask):
    return mapped(one_head, 0)(query, key, value, mask)


def with_minus_infinity(query, key, value, mask):
    def one(q, k, v, m):
        return jax.nn.softmax(jnp.where(m, q @ k.T / 2, -jnp.inf)) @ v

    return mapped(one)(query, key, value, mask)


def with_an_if(query, key, value, mask):
    def one(q, k, v, m):
        return one_head(q, k, v, m) if m.all() else one_head(q, k[:3], v[:3], m[:3])

    return mapped(one)(query, key, value, mask)


def by_selection(query, key, value, mask):
    return mapped(lambda q, k, v, m: jax.nn.softmax(q @ k[m].T / 2) @ v[m])(query, key, value, mask)


def in_place(query, key, value, mask):
    scores = query @ key.mT / 2
    scores[~mask] = -1e9
    return jax.nn.softmax(scores) @ value


def in_torch(query, key, value, mask):
    query, key, value, mask = (torch.tensor(np.asarray(x)) for x in (query, key, value, mask))
    scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~mask[:, None, None], -1e9)
    return scores.softmax(-1) @ value


def jaxs_own(query, key, value, mask):
    query, key, value = (x.swapaxes(1, 2) for x in (query, key, value))
    return jax.nn.dot_product_attention(query, key, value, mask=mask[:, None, None]).swapaxes(1, 2)


def torchs_own(query, key, value, mask):
    query, key, value, mask = (torch.tensor(np.asarray(x)) for x in (query, key, value, mask))
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask[:, None, None])


def inverted(query, key, value, mask):
    return by_vmap(query, key, value, ~mask)


def divided_by_length(query, key, value, mask):
    return by_vmap(query * 2 / 5**0.5, key, value, mask)


def queries_hidden_too(query, key, value, mask):
    def one(q, k, v, m):
        return jax.nn.softmax(jnp.where(m & m[:, None], q @ k.T / 2, -1e9)) @ v

    return mapped(one)(query, key, value, mask)


def minus_ten(query, key, value, mask):
    return mapped(lambda q, k, v, m: jax.nn.softmax(q @ k.T / 2 - 10.0 * ~m) @ v)(query, key, value, mask)


def transposed_as_in_torch(query, key, value, mask):
    return mapped(lambda q, k, v, m: jax.nn.softmax(q @ k.transpose(-2, -1) / 2) @ v)(query, key, value, mask)


def softmax_with_dim(query, key, value, mask):
    return mapped(lambda q, k, v, m: jax.nn.softmax(q @ k.T, dim=-1) @ v)(query, key, value, mask)


def methods_of_torch(query, key, value, mask):
    return mapped(lambda q, k, v, m: (q @ k.T).masked_fill(~m, -1e9) @ v)(query, key, value, mask)


def where_of_numpy(query, key, value, mask):
    return mapped(lambda q, k, v, m: jax.nn.softmax(np.where(m, q @ k.T, -1e9)) @ v)(query, key, value, mask)


ANSWERS = {
    "24.2": {
        "accepted": [by_vmap, at_once, token_by_token],
        "wrong": [
            (undivided, "sharper than they should be"),
            (over_queries, "softmax runs over the queries"),
            (unmasked, "the mask is not used"),
            (masked_with_zero, "e to the 0 is 1"),
            (masked_afterwards, "no longer sum to 1"),
            (masked_rows, "the queries are masked"),
            (mask_mapped_over_heads, "which axis is mapped"),
            (with_minus_infinity, "all padding gives nan"),
            (with_an_if, "Choose with jnp.where"),
            (by_selection, "must not depend on numbers"),
            (in_place, "never changes"),
            (in_torch, "a PyTorch tensor"),
            (torchs_own, "uses torch's `scaled_dot_product_attention`"),
            (jaxs_own, "uses `dot_product_attention`"),
            (inverted, "the wrong way round"),
            (divided_by_length, "divided by √T"),
            (queries_hidden_too, "hidden as a query too"),
            (minus_ten, "a little attention"),
            (transposed_as_in_torch, "or swapaxes(-2, -1)"),
            (softmax_with_dim, "called axis here"),
            (methods_of_torch, "methods of NumPy"),
            (where_of_numpy, "use jnp in place of np"),
        ],
    }
}
