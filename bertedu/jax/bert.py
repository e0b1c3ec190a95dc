"""BERT: embeddings, encoder and pooler, as in bertedu/model/bert.py (Devlin et al. 2019, section 3).

Shapes: B batch, T tokens, D hidden size, H heads, L layers.
"""

from pathlib import Path
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
from flax import nnx

from bertedu import model as in_torch
from bertedu.config import BertConfig
from bertedu.errors import UserError
from bertedu.jax.attention import padding_bias
from bertedu.jax.embeddings import BertEmbeddings
from bertedu.jax.encoder import Encoder
from bertedu.jax.layers import linear
from bertedu.jax.loading import from_torch


class BertOutput(NamedTuple):
    """What BERT says about a batch. A NamedTuple is a pytree: jit can return it, grad and vmap can look inside."""

    last_hidden_state: jax.Array  # [B, T, D]
    pooler_output: jax.Array | None  # [B, D]; None for a model without a pooler
    hidden_states: tuple[jax.Array, ...] | None = None  # L + 1 times [B, T, D], the embeddings first
    attentions: tuple[jax.Array, ...] | None = None  # L times [B, H, T, T]


class Pooler(nnx.Module):
    """One vector for the whole text: the vector of [CLS] through a linear layer and tanh, [B, T, D] to [B, D]."""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs):
        self.dense = linear(config, config.hidden_size, config.hidden_size, rngs)

    def __call__(self, hidden_states: jax.Array) -> jax.Array:
        return jnp.tanh(self.dense(hidden_states[:, 0]))


class BertModel(nnx.Module):
    """BERT without a head. Its weights start as published, drawn with the keys of `rngs`."""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs, add_pooling_layer: bool = True):
        self.config = config
        self.embeddings = BertEmbeddings(config, rngs)
        self.encoder = Encoder(config, rngs)
        self.pooler = Pooler(config, rngs) if add_pooling_layer else None

    @classmethod
    def from_pretrained(cls, name: str | Path) -> Self:
        """From a folder or a hub id, as PyTorch's BertModel reads it, with its warnings and errors."""
        return from_torch(in_torch.BertModel.from_pretrained(name), cls)

    def __call__(
        self,
        input_ids: jax.Array,
        attention_mask: jax.Array | None = None,
        token_type_ids: jax.Array | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
        rngs: nnx.Rngs | None = None,
    ) -> BertOutput:
        """input_ids, attention_mask (1 text, 0 padding), token_type_ids (0 first, 1 second text): [B, T].

        With rngs there is dropout, without there is none. Raises UserError when the three differ in shape, for more
        tokens than positions, and, outside of jit, for ids beyond the vocabulary.
        """
        input_ids = jnp.asarray(input_ids)
        check_shapes(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        vectors = self.embeddings(input_ids, token_type_ids, rngs)  # [B, T, D]
        bias = None if attention_mask is None else padding_bias(attention_mask, vectors.dtype)
        hidden_states, attentions = self.encoder(vectors, bias, rngs)
        return BertOutput(
            last_hidden_state=hidden_states[-1],
            pooler_output=None if self.pooler is None else self.pooler(hidden_states[-1]),
            hidden_states=hidden_states if output_hidden_states else None,
            attentions=attentions if output_attentions else None,
        )


def check_shapes(input_ids: jax.Array, **others: jax.Array | None) -> None:
    """Raise UserError unless input_ids are a batch of texts [B, T], and the others of the same shape."""
    if input_ids.ndim != 2 or input_ids.shape[1] == 0:
        raise UserError(
            f"input_ids have the shape {list(input_ids.shape)}: give a batch of texts [B, T] with at least one token "
            "each (one text alone: input_ids[None])."
        )
    for name, array in others.items():  # a mask [B, 1] would broadcast, and hide all or nothing
        if array is not None and array.shape != input_ids.shape:
            raise UserError(
                f"{name} has the shape {list(array.shape)} and input_ids {list(input_ids.shape)}: give one number for "
                "each token."
            )
