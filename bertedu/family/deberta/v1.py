"""DeBERTa, version 1: one matrix for queries, keys and values, distances up to 512 tokens, each with its own vector.

He et al. 2021; microsoft/deberta-base. Shapes: B batch, T tokens, D hidden size, H heads, d = D / H.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from bertedu.checkpoints.names import BERT
from bertedu.family.deberta.attention import DisentangledAttention
from bertedu.family.deberta.config import DebertaConfig
from bertedu.family.deberta.model import ContextPooler, DisentangledEncoder, DisentangledLayer, DisentangledModel
from bertedu.model.architecture import Architecture
from bertedu.model.heads import MaskedLMHead
from bertedu.tokenization import BertTokenizer


class DebertaAttention(DisentangledAttention):
    """Version 1: one matrix for queries, keys and values, and two of their own for the positions.

    No key has a bias: it would add the same to all scores of a query. The positions' queries have one, since their
    term compares them with keys that differ.
    """

    def __init__(self, config: DebertaConfig):
        super().__init__(config)
        self.in_proj = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(config.hidden_size))
        self.v_bias = nn.Parameter(torch.zeros(config.hidden_size))
        self.pos_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.pos_q_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def content(self, hidden_states: Tensor, query_states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The rows of in_proj go head by head (q, k, v of the first, then of the second), so heads are split first."""
        query, key, value = self.split_heads(self.in_proj(hidden_states)).chunk(3, dim=-1)
        if query_states is not hidden_states:
            query = self.split_heads(self.in_proj(query_states)).chunk(3, dim=-1)[0]
        return query + self.split_heads(self.q_bias[None]), key, value + self.split_heads(self.v_bias[None])

    def positions(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys of the distances, [H, 2 s, d] each."""
        return self.split_heads(self.pos_q_proj(vectors)), self.split_heads(self.pos_proj(vectors))


class DebertaLayer(DisentangledLayer):
    """BERT's layer with the attention of version 1."""

    attention_class = DebertaAttention


class DebertaEncoder(DisentangledEncoder):
    """Each distance has its own vector, up to the farthest; what is farther away has the vector of that."""

    layer_class = DebertaLayer

    def distances(self, length: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """The vectors of distances that T tokens can have, and which of them holds for query i and key j, [T, T]."""
        farthest = self.relative.num_embeddings // 2
        span = min(length, farthest)  # a short text needs only the middle of the table
        places = torch.arange(length, device=device)
        index = (places[:, None] - places + span).clamp(0, 2 * span - 1)
        return self.relative.weight[farthest - span : farthest + span], index


class DebertaModel(DisentangledModel):
    """DeBERTa, version 1, without a head."""

    encoder_class = DebertaEncoder


POOLER = (("transform.", "pooler."),)
NAMES = replace(
    BERT,
    prefix="deberta",
    rows=(
        ("encoder.relative.", "encoder.rel_embeddings."),
        *BERT.rows,
        # What the head is called in Microsoft's files, and in `transformers` where config.json says "legacy": false.
        ("masked_lm.dense.", "lm_predictions.lm_head.dense."),
        ("masked_lm.norm.", "lm_predictions.lm_head.LayerNorm."),
        ("masked_lm.decoder.bias", "lm_predictions.lm_head.bias"),
    ),
    heads={"ForSequenceClassification": POOLER, "ForMultipleChoice": POOLER},
)

ARCHITECTURE = Architecture(
    name="Deberta",
    config=DebertaConfig,
    encoder=DebertaModel,
    language_model_head=MaskedLMHead,
    names=NAMES,
    tokenizer=BertTokenizer,  # stands here for GPT-2's byte-level BPE with [CLS], [SEP], [PAD] and [MASK]
    transforms={"ForSequenceClassification": ContextPooler, "ForMultipleChoice": ContextPooler},
)
