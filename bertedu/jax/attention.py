"""Self-attention, as in bertedu/model/attention.py (Vaswani et al. 2017, section 3.2.2).

Shapes: B batch, T tokens, D hidden size, H heads, d = D / H.
"""

import math

import jax
import jax.numpy as jnp
from flax import nnx

from bertedu.config import BertConfig
from bertedu.jax.layers import drop, linear


def attend(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
    dropout_prob: float = 0.0,
    rngs: nnx.Rngs | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Mix the values, each token by how well its query matches every key.

    query, key, value [..., T, d]; bias is added to the scores [..., T, T]: 0 keeps a position, a very large negative
    number hides it. Returns the mixed values [..., T, d] and the attention weights [..., T, T], after dropout.
    """
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # [..., T, T]
    if bias is not None:
        scores = scores + bias
    weights = drop(jax.nn.softmax(scores, axis=-1), dropout_prob, rngs)
    return weights @ value, weights


def padding_bias(attention_mask: jax.Array, dtype: jnp.dtype) -> jax.Array:
    """What to add to the scores so that no token attends to padding: [B, T] of ones and zeros to [B, 1, 1, T].

    Half the smallest number of the type rather than -inf: a text that is all padding then stays finite.
    """
    bias = jnp.where(attention_mask == 0, jnp.finfo(dtype).min / 2, 0.0).astype(dtype)
    return bias[:, None, None, :]


class SelfAttention(nnx.Module):
    """Multi-head self-attention with its output projection, [B, T, D] to [B, T, D]."""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs):
        self.num_heads = config.num_attention_heads
        self.dropout_prob = config.attention_probs_dropout_prob
        self.query = linear(config, config.hidden_size, config.hidden_size, rngs)
        self.key = linear(config, config.hidden_size, config.hidden_size, rngs)
        self.value = linear(config, config.hidden_size, config.hidden_size, rngs)
        self.output = linear(config, config.hidden_size, config.hidden_size, rngs)

    def split_heads(self, x: jax.Array) -> jax.Array:
        """[B, T, D] to [B, H, T, d]: each head takes d neighbouring entries of every vector."""
        return x.reshape(*x.shape[:2], self.num_heads, -1).swapaxes(1, 2)

    def __call__(
        self, hidden_states: jax.Array, bias: jax.Array | None = None, rngs: nnx.Rngs | None = None
    ) -> tuple[jax.Array, jax.Array]:
        """Returns the mixed vectors [B, T, D] and the weights [B, H, T, T]."""
        projections = (self.query, self.key, self.value)
        query, key, value = (self.split_heads(project(hidden_states)) for project in projections)
        mixed, weights = attend(query, key, value, bias, self.dropout_prob, rngs)  # [B, H, T, d]
        return self.output(mixed.swapaxes(1, 2).reshape(hidden_states.shape)), weights
