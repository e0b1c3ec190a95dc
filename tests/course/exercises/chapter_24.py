"""Answers to the exercises of chapter 24: right ones, and mistakes with the words that they must hear."""

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
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask[:, None, None])


# 24.3 ----------------------------------------------------------------------------------------------------------------


def step(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    return jax.tree.map(lambda w, v: w - learning_rate * v, weights, velocity), velocity, before


def step_by_leaves(loss, weights, velocity, batch, learning_rate):
    flat, tree = jax.tree.flatten(weights)
    gradients = jax.tree.leaves(jax.grad(loss)(weights, batch))
    moved = [v * 0.9 + g for v, g in zip(jax.tree.leaves(velocity), gradients, strict=True)]
    flat = [w - v * learning_rate for w, v in zip(flat, moved, strict=True)]
    return [jax.tree.unflatten(tree, flat), jax.tree.unflatten(tree, moved), loss(weights, batch)]


def old_velocity(loss, weights, velocity, batch, learning_rate):
    _, moved, before = step(loss, weights, velocity, batch, learning_rate)
    return jax.tree.map(lambda w, v: w - learning_rate * v, weights, velocity), moved, before


def uphill(loss, weights, velocity, batch, learning_rate):
    return step(loss, weights, velocity, batch, -learning_rate)


def plain_descent(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    return jax.tree.map(lambda w, g: w - learning_rate * g, weights, gradients), gradients, before


def dampened(loss, weights, velocity, batch, learning_rate):
    new, _, before = step(loss, weights, velocity, batch, learning_rate)
    gradients = jax.grad(loss)(weights, batch)
    return new, jax.tree.map(lambda v, g: 0.9 * v + 0.1 * g, velocity, gradients), before


def keeps_the_velocity(loss, weights, velocity, batch, learning_rate):
    new, _, before = step(loss, weights, velocity, batch, learning_rate)
    return new, velocity, before


def swapped(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    return velocity, new, before


def loss_afterwards(loss, weights, velocity, batch, learning_rate):
    new, velocity, _ = step(loss, weights, velocity, batch, learning_rate)
    return new, velocity, loss(new, batch)


def for_flat_weights(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    velocity = {name: 0.9 * velocity[name] + gradients[name] for name in weights}
    return {name: weights[name] - learning_rate * velocity[name] for name in weights}, velocity, before


def into_the_dictionary(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    weights.update(new)
    return weights, velocity, before


def as_a_float(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    float(before)
    return new, velocity, before


def as_a_list(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    return jax.tree.leaves(new), velocity, before


def remembered(loss, weights, velocity, batch, learning_rate, kept=[]):  # noqa: B006 the mistake
    state = kept.pop() if kept else velocity
    new, moved, before = step(loss, weights, state, batch, learning_rate)
    if not kept and state is velocity:
        kept.append(moved)
    return new, moved, before


# 24.4 ----------------------------------------------------------------------------------------------------------------


def folded(key, step):
    mask_key, dropout_key = jax.random.split(jax.random.fold_in(key, step))
    return mask_key, dropout_key


def split_first(key, step):
    return [jax.random.fold_in(one, step) for one in jax.random.split(key)]


def split_as_it_is(key, step):
    return jax.random.split(jax.random.fold_in(key, step))


def always_the_same(key, step):
    return tuple(jax.random.split(key))


def one_for_both(key, step):
    key = jax.random.fold_in(key, step)
    return key, key


def neighbours(key, step):
    return jax.random.fold_in(key, step), jax.random.fold_in(key, step + 1)


def the_runs_own(key, step):
    return jax.random.fold_in(key, step), key


def from_the_step(key, step):
    return tuple(jax.random.split(jax.random.key(step)))


def by_counting(key, step):
    keys = jax.random.split(key, 2 * step + 2)
    return keys[2 * step], keys[2 * step + 1]


def as_numbers(key, step):
    return tuple(jax.random.key_data(jax.random.split(jax.random.fold_in(key, step))))


def from_numpy(key, step):
    return tuple(jax.random.split(jax.random.key(np.random.randint(2**31))))


def three(key, step):
    return tuple(jax.random.split(jax.random.fold_in(key, step), 3))


ANSWERS = {
    "24.1": {
        "accepted": [4, 4.0],
        "wrong": [
            (6, "number of calls"),
            (5, "shapes that were there before"),
            (3, "One kind is missing"),
            (2, "The length is not all"),
            (1, "made for one shape"),
            (0, "different pairs"),
        ],
    },
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
        ],
    },
    "24.3": {
        "accepted": [step, step_by_leaves],
        "wrong": [
            (old_velocity, "velocity of before"),
            (uphill, "against the gradient"),
            (plain_descent, "where is the velocity"),
            (dampened, "counts in full"),
            (keeps_the_velocity, "needs the new one"),
            (swapped, "Return the weights first"),
            (loss_afterwards, "loss after the update"),
            (for_flat_weights, "stopped with TypeError"),
            (into_the_dictionary, "changed its input"),
            (as_a_float, "no numbers yet"),
            (as_a_list, "a tree like the one"),
            (remembered, "a second time"),
        ],
    },
    "24.4": {
        "accepted": [folded, split_first, split_as_it_is],
        "wrong": [
            (always_the_same, "Is the step mixed in"),
            (one_for_both, "for one thing only"),
            (neighbours, "the dropout key of step 0"),
            (the_runs_own, "the key of the whole run"),
            (from_the_step, "Two runs with two seeds"),
            (by_counting, "Inside jit the step has no number"),
            (as_numbers, "holds numbers"),
            (from_numpy, "other keys than the first time"),
            (three, "3 things"),
        ],
    },
}
