"""The head of masked words, as in bertedu/model/heads.py (Devlin et al. 2019, section 3.1).

Shapes: B batch, T tokens, D hidden size, V vocabulary.
"""

from pathlib import Path
from typing import Self

import jax
import jax.numpy as jnp
from flax import nnx

from bertedu import model as in_torch
from bertedu.config import BertConfig
from bertedu.jax.bert import BertModel
from bertedu.jax.encoder import gelu
from bertedu.jax.layers import layer_norm, linear
from bertedu.jax.loading import from_torch


class TiedDecoder(nnx.Module):
    """A score for every word, [..., D] to [..., V]: the dot product with its own embedding, plus a bias for each word.

    PyTorch's version keeps the table of embeddings under a second name. Here a tree of weights holds each weight once,
    and the table is an argument: grad then adds up what both uses of it ask for.
    """

    def __init__(self, config: BertConfig):
        self.bias = nnx.Param(jnp.zeros(config.vocab_size))

    def __call__(self, vectors: jax.Array, token_embeddings: nnx.Embed) -> jax.Array:
        return token_embeddings.attend(vectors) + self.bias


class MaskedLMHead(nnx.Module):
    """From a token's vector to a score for every word that could stand there: [..., D] to [..., V]."""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs):
        self.hidden_act = config.hidden_act
        self.dense = linear(config, config.hidden_size, config.hidden_size, rngs)
        self.norm = layer_norm(config, rngs)
        self.decoder = TiedDecoder(config)

    def __call__(self, hidden_states: jax.Array, token_embeddings: nnx.Embed) -> jax.Array:
        vectors = self.norm(gelu(self.dense(hidden_states), self.hidden_act))
        return self.decoder(vectors, token_embeddings)


class BertForMaskedLM(nnx.Module):
    """An encoder with its language-model head: which word is masked?"""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs):
        self.config = config
        self.encoder = BertModel(config, rngs, add_pooling_layer=False)
        self.masked_lm = MaskedLMHead(config, rngs)

    @classmethod
    def from_pretrained(cls, name: str | Path) -> Self:
        """From a folder or a hub id, as PyTorch's BertForMaskedLM reads it, with its warnings and errors."""
        return from_torch(in_torch.BertForMaskedLM.from_pretrained(name), cls)

    def __call__(
        self,
        input_ids: jax.Array,
        attention_mask: jax.Array | None = None,
        token_type_ids: jax.Array | None = None,
        rngs: nnx.Rngs | None = None,
    ) -> jax.Array:
        """Scores of every word at every token, [B, T, V]. See BertModel for the inputs.

        PyTorch's version scores masked tokens only. How many there are depends on the numbers in the batch, and jit
        needs shapes that don't: so all tokens are scored here, and the loss counts the masked ones.
        """
        output = self.encoder(input_ids, attention_mask, token_type_ids, rngs=rngs)
        return self.masked_lm(output.last_hidden_state, self.encoder.embeddings.token)
