"""Masking with a random key, as in bertedu/pretraining/masking.py (Devlin et al. 2019, section 3.1, appendix A.1).

Shapes: B batch, T tokens. All of them are fixed: how many tokens are masked is a number, never a shape.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bertedu.model.heads import IGNORED


class Draws(NamedTuple):
    """The random numbers that decide a batch's masks, all [B, T]."""

    mask_order: jax.Array  # from 0 to 1: those with the lowest numbers are chosen
    mask_fate: jax.Array  # from 0 to 1: low ones make [MASK], high ones a random word
    mask_words: jax.Array  # random ids


def draw(key: jax.Array, shape: tuple[int, ...], vocab_size: int) -> Draws:
    """Three kinds of random numbers from three keys: with one key, the order would decide the fate."""
    order, fate, words = jax.random.split(key, 3)
    return Draws(
        jax.random.uniform(order, shape),
        jax.random.uniform(fate, shape),
        jax.random.randint(words, shape, 0, vocab_size),
    )


@partial(jax.jit, static_argnames=("rate", "mask_token_id", "vocab_size", "special_tokens"))
def mask_tokens(
    key: jax.Array,
    input_ids: jax.Array,
    candidates: jax.Array,
    rate: float,
    mask_token_id: int,
    vocab_size: int,
    special_tokens: int = 3,
) -> tuple[jax.Array, jax.Array]:
    """Hide a share of the tokens: returns what the model sees and the labels, both [B, T].

    candidates [B, T]: tokens that may be chosen (no [CLS], [SEP], padding). In each text
    round(masking rate · length) are, at least one. Of the chosen 80 % become [MASK], 10 % a random word and 10 % stay.
    Labels are the right ids where chosen, -100 elsewhere. One key always gives the same masks.
    """
    draws = draw(key, input_ids.shape, vocab_size)
    # All lengths that a text can have, in NumPy's 64 bits: 0.15 · 190 is 28.5, and in 32 bits a little more.
    lengths = np.arange(input_ids.shape[1] + 1) + special_tokens
    numbers = jnp.asarray(np.maximum(np.round(lengths * rate), 1).astype(np.int32))  # [T + 1]
    number = numbers[candidates.sum(axis=1)]  # [B]
    ordered = jnp.where(candidates, draws.mask_order, 2.0).argsort(axis=1)  # candidates first
    rank = ordered.argsort(axis=1)  # each token's position in that order
    chosen = (rank < number[:, None]) & candidates
    becomes_mask = chosen & (draws.mask_fate < 0.8)
    becomes_random = chosen & (draws.mask_fate >= 0.9)
    seen = jnp.where(becomes_mask, mask_token_id, jnp.where(becomes_random, draws.mask_words, input_ids))
    return seen, jnp.where(chosen, input_ids, IGNORED)
