"""Token + segment + position, as in bertedu/model/embeddings.py (Devlin et al. 2019, section 3 and figure 2).

Shapes: B batch, T tokens, D hidden size.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from bertedu.config import BertConfig
from bertedu.errors import UserError
from bertedu.jax.layers import drop, embed, layer_norm


class BertEmbeddings(nnx.Module):
    """The sum of three learned vectors for each token, normalised: ids [B, T] to [B, T, D]."""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs):
        self.dropout_prob, self.pad_token_id = config.hidden_dropout_prob, config.pad_token_id
        self.token = embed(config, config.vocab_size, rngs)
        self.token.embedding[...] = self.token.embedding[...].at[config.pad_token_id].set(0.0)  # as in PyTorch
        self.position = embed(config, config.max_position_embeddings, rngs)
        self.token_type = embed(config, config.type_vocab_size, rngs)
        self.norm = layer_norm(config, rngs)

    def __call__(
        self, input_ids: jax.Array, token_type_ids: jax.Array | None = None, rngs: nnx.Rngs | None = None
    ) -> jax.Array:
        """Raises UserError for more tokens than positions, and, outside of jit, for ids beyond the vocabulary."""
        length = input_ids.shape[1]
        if length > self.position.num_embeddings:
            raise UserError(
                f"a text has {length} tokens and this model {self.position.num_embeddings} positions: shorten it with "
                f"max_length={self.position.num_embeddings}, or split it."
            )
        if token_type_ids is None:
            token_type_ids = jnp.zeros_like(input_ids)
        check_ids("input_ids", input_ids, self.token.num_embeddings)
        check_ids("token_type_ids", token_type_ids, self.token_type.num_embeddings)
        tokens = self.token(input_ids)  # [B, T, D]
        is_padding = (input_ids == self.pad_token_id)[..., None]
        tokens = jnp.where(is_padding, jax.lax.stop_gradient(tokens), tokens)  # what padding_idx does in PyTorch
        positions = self.position.embedding[:length]  # [T, D]
        vectors = tokens + self.token_type(token_type_ids) + positions
        return drop(self.norm(vectors), self.dropout_prob, rngs)


def check_ids(name: str, ids: jax.Array, size: int) -> None:
    """Raise UserError for ids that are not from 0 to size − 1.

    While jit traces a function, an array has a shape and no numbers, so there is nothing to check. An id beyond the
    table then gives a vector of NaN (`jnp.take`), and a negative one counts from the end, as in Python.
    """
    if isinstance(ids, jax.core.Tracer):
        return
    numbers = np.asarray(ids)  # inside jit, even a constant array's numbers can be looked at in NumPy alone
    outside = numbers[(numbers < 0) | (numbers >= size)]
    if outside.size:
        raise UserError(
            f"{name} hold {outside[0]}, and this model knows 0 to {size - 1}: use the tokenizer that was saved with "
            "the model."
        )
