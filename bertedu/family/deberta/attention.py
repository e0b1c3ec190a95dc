"""Disentangled attention: three terms for every pair of tokens (He et al. 2021, section 3.1).

Shapes: B batch, T tokens, D hidden size, H heads, d = D / H, s the farthest distance that is told apart.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bertedu.family.deberta.config import DebertaConfig
from bertedu.model.attention import mix


@dataclass(frozen=True)
class Context:
    """What all layers share while they read a batch."""

    vectors: Tensor  # [2 s, D], one for each distance, from -s to s - 1
    index: Tensor  # [T, T], which of them holds for query i and key j
    real: Tensor  # [B, T], true where a token is text and no padding


class DisentangledAttention(nn.Module):
    """Attention with the three terms. How content and positions are projected is left to the version of DeBERTa."""

    def __init__(self, config: DebertaConfig):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.dropout_prob = config.attention_probs_dropout_prob
        self.position_dropout = nn.Dropout(config.hidden_dropout_prob)
        self.output = nn.Linear(config.hidden_size, config.hidden_size)

    def split_heads(self, x: Tensor) -> Tensor:
        """[…, T, D] to […, H, T, d]."""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)

    def content(self, hidden_states: Tensor, query_states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of the tokens, [B, T, D] to [B, H, T, d] each."""
        raise NotImplementedError

    def positions(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys of the distances, [2 s, D] to [H, 2 s, d] each."""
        raise NotImplementedError

    def forward(
        self,
        hidden_states: Tensor,
        context: Context,
        output_attentions: bool = False,
        query_states: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """As BERT's, [B, T, D] to [B, T, D]. query_states: where the queries come from, if not from hidden_states."""
        query, key, value = self.content(hidden_states, hidden_states if query_states is None else query_states)
        position_query, position_key = self.positions(self.position_dropout(context.vectors))
        # A query that is padding attends to all alike and moves no weight, as in `transformers`: it is made zero.
        query = query * context.real[:, None, :, None]  # [B, H, T, d]
        terms = math.sqrt(3)  # three terms: √(3d), of which √d is what `mix` divides by
        query, position_query = query / terms, position_query / terms
        scores = position_scores(query, key, position_query, position_key, context.index) / math.sqrt(key.size(-1))
        pairs = context.real[:, None, :, None] & context.real[:, None, None, :]  # [B, 1, T, T]
        scores = scores.masked_fill(~pairs, torch.finfo(scores.dtype).min / 2)  # half: see `padding_bias`
        dropout_prob = self.dropout_prob if self.training else 0.0
        mixed, weights = mix(query, key, value, scores, dropout_prob, output_attentions)
        return self.output(mixed), weights


def position_scores(query: Tensor, key: Tensor, position_query: Tensor, position_key: Tensor, index: Tensor) -> Tensor:
    """Content to position plus position to content, not yet divided: [B, H, T, T].

    query, key [B, H, T, d]; position_query, position_key [H, 2 s, d]; index [T, T]. Each token is compared with all
    2 s distances at once, and each pair of tokens then picks its own. The paper has δ(j, i) in the second term; the
    code, and so every published checkpoint, has the distance of query i and key j in both.
    """
    pairs = (*query.shape[:-1], key.size(-2))
    to_positions = query @ position_key.transpose(-2, -1)  # [B, H, T, 2 s], a row for each query
    from_positions = key @ position_query.transpose(-2, -1)  # [B, H, T, 2 s], a row for each key:
    by_key = from_positions.gather(-1, index.T.expand(pairs))  # so what is gathered is [key, query]
    return to_positions.gather(-1, index.expand(pairs)) + by_key.transpose(-2, -1)
