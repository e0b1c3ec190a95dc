"""Unpadding: the real tokens of a batch as one long sequence, so that nothing is computed for padding.

Warner et al. 2024, section 2.1.2; before them Zeng et al. 2022 and MosaicBERT (Portes et al. 2023). All that treats
one token at a time (embeddings, norms, every matrix product) then costs N tokens and not B·T. Attention must keep the
texts apart. Flash attention does so by being told where each text begins, and never touches a pair of tokens from
different texts. Here a bias hides these pairs, which gives the same result on any machine, and saves nothing: the
scores of all N·N pairs are computed.

Shapes: B batch, T tokens, N real tokens of the whole batch, D hidden size.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from bertedu.family.modernbert.model import ModernBertModel
from bertedu.model.attention import hiding_bias


@dataclass(frozen=True)
class Unpadded:
    """The real tokens of a batch, text after text: their ids, where each stands in its text, and in which text."""

    input_ids: Tensor  # [N]
    positions: Tensor  # [N]
    texts: Tensor  # [N]


def unpad(input_ids: Tensor, attention_mask: Tensor) -> Unpadded:
    """Leave out the padding: [B, T] each, the mask 1 for text and 0 for padding."""
    texts, positions = attention_mask.nonzero(as_tuple=True)
    return Unpadded(input_ids[texts, positions], positions, texts)


def block_diagonal_bias(texts: Tensor, dtype: torch.dtype) -> Tensor:
    """What to add to the scores so that a token attends to its own text alone: [N] numbers of texts to [N, N]."""
    return hiding_bias(texts[:, None] != texts[None, :], dtype)


def pad_again(vectors: Tensor, attention_mask: Tensor) -> Tensor:
    """Put the vectors back where their tokens stood, zeros where padding was: [N, D] to [B, T, D]."""
    padded = vectors.new_zeros(*attention_mask.shape, vectors.size(-1))
    padded[attention_mask.bool()] = vectors
    return padded


def encode_unpadded(model: ModernBertModel, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """The last hidden states [B, T, D] of `model(input_ids, attention_mask)`, computed without padding, zeros there."""
    tokens = unpad(input_ids, attention_mask)
    vectors = model.embeddings(tokens.input_ids[None])  # [1, N, D]
    bias = block_diagonal_bias(tokens.texts, vectors.dtype)
    hidden_states, _ = model.through_layers(vectors, tokens.positions, bias)
    return pad_again(hidden_states[-1][0], attention_mask)
