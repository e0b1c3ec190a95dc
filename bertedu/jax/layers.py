"""Flax's layers with BERT's settings: all of them differ from Flax's defaults.

Shapes: D hidden size; a kernel is [in, out], where PyTorch's weight is [out, in].
"""

import jax
from flax import nnx

from bertedu.config import BertConfig


def published(config: BertConfig) -> jax.nn.initializers.Initializer:
    """Normal, truncated at two standard deviations, as in google-research/bert. Flax's default is LeCun's."""
    return jax.nn.initializers.truncated_normal(config.initializer_range)


def linear(config: BertConfig, inputs: int, outputs: int, rngs: nnx.Rngs) -> nnx.Linear:
    """A linear layer that starts as published, its bias with zeros."""
    return nnx.Linear(inputs, outputs, kernel_init=published(config), rngs=rngs)


def embed(config: BertConfig, rows: int, rngs: nnx.Rngs) -> nnx.Embed:
    """A table of vectors, [rows, D], that starts as published."""
    return nnx.Embed(rows, config.hidden_size, embedding_init=published(config), rngs=rngs)


def layer_norm(config: BertConfig, rngs: nnx.Rngs) -> nnx.LayerNorm:
    """LayerNorm with BERT's epsilon (Flax: 1e-6), and the variance as the mean of (x − mean)².

    Flax's default computes mean(x²) − mean(x)², which is faster on some devices and loses digits where the mean is
    large beside the standard deviation.
    """
    return nnx.LayerNorm(config.hidden_size, epsilon=config.layer_norm_eps, use_fast_variance=False, rngs=rngs)


def drop(x: jax.Array, rate: float, rngs: nnx.Rngs | None) -> jax.Array:
    """Dropout with a key of its own from `rngs`; without rngs nothing is dropped. The shape stays.

    PyTorch asks a switch, `model.train()`, and a generator that everybody shares. Here both are one argument.
    """
    return nnx.Dropout(rate, deterministic=rngs is None)(x, rngs=rngs)
