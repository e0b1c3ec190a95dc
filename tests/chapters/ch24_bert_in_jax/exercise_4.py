"""Answers to exercise 24.4: right ones, and mistakes with the words that they must hear."""

import jax
import numpy as np


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


def from_a_list(key, step):
    keys = jax.random.split(key, 2000)
    return keys[2 * step], keys[2 * step + 1]


def far_apart(key, step):
    return jax.random.fold_in(key, step), jax.random.fold_in(key, step + 1_000_000)


def drawn_and_split(key, step):
    key = jax.random.fold_in(key, step)
    return key, jax.random.split(key)[0]


def drawn_and_folded(key, step):
    key = jax.random.fold_in(key, step)
    return key, jax.random.fold_in(key, 1)


def below_the_first_mask(key, step):
    return jax.random.fold_in(key, step), jax.random.fold_in(jax.random.split(key)[0], step)


def by_a_loop(key, step):
    for _ in range(step + 1):
        key, mask_key, dropout_key = jax.random.split(key, 3)
    return mask_key, dropout_key


def three(key, step):
    return tuple(jax.random.split(jax.random.fold_in(key, step), 3))


ANSWERS = {
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
            (from_a_list, "a list of keys runs out"),
            (far_apart, "used for one thing only"),
            (drawn_and_split, "is made from the mask key"),
            (drawn_and_folded, "is made from the mask key"),
            (below_the_first_mask, "is made from the mask key of step 0"),
            (by_a_loop, "no range(step)"),
        ],
    }
}
