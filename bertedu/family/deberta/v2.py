"""DeBERTa, versions 2 and 3: far distances share a vector, and positions share the projections of the content.

He, Gao & Chen 2023 (DeBERTaV3), section 2; code: microsoft/DeBERTa. What changes against version 1: distances fall into
buckets, narrow for near tokens and ever wider for far ones; queries, keys and values have a matrix and a bias each, and
the positions are projected by those of queries and keys; the table of distances is normalised. Versions 2 and 3 differ
in their training only: 2 learned from masked words, 3 from replaced tokens. The two largest of version 2 have a
convolution beside the first layer. Shapes: B batch, T tokens, D hidden size, H heads, d = D / H, s buckets.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from bertedu.family.deberta.attention import Context, DisentangledAttention
from bertedu.family.deberta.config import DebertaV2Config
from bertedu.family.deberta.model import ContextPooler, DisentangledEncoder, DisentangledLayer, DisentangledModel
from bertedu.family.deberta.v1 import NAMES
from bertedu.model.architecture import Architecture
from bertedu.model.encoder import activation
from bertedu.model.heads import MaskedLMHead
from bertedu.tokenization.deberta_v2 import DebertaV2Tokenizer


def log_buckets(distances: Tensor, buckets: int, farthest: int) -> Tensor:
    """The bucket of each distance, from -buckets to buckets: the same shape, whole numbers.

    Up to half of the buckets each distance is a bucket of its own. Beyond, their logarithm is cut into equal parts, so
    that the farthest distance is in the last one; ceil, so that a bucket ends at a round part and does not begin there.
    """
    middle = buckets // 2
    if farthest - 1 <= middle:  # nothing to put together
        return distances
    far = distances.abs().clamp_min(middle)
    # In 32 bits, as in `transformers`: a logarithm that is a whole number but for rounding decides about a bucket.
    share = torch.log(far / middle) / torch.log(torch.tensor((farthest - 1) / middle))  # 0 at the middle, 1 at the end
    beyond = torch.ceil(share * (middle - 1)).long() + middle
    return torch.where(distances.abs() <= middle, distances, beyond * distances.sign())


class DebertaV2Attention(DisentangledAttention):
    """BERT's three projections; those of queries and keys are the positions' too. Here the keys' bias matters: the
    positions' queries are compared with it.
    """

    def __init__(self, config: DebertaV2Config):
        super().__init__(config)
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)

    def content(self, hidden_states: Tensor, query_states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of the tokens, [B, H, T, d] each."""
        pairs = ((self.query, query_states), (self.key, hidden_states), (self.value, hidden_states))
        query, key, value = (self.split_heads(project(states)) for project, states in pairs)
        return query, key, value

    def positions(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys of the distances, [H, 2 s, d] each."""
        return self.split_heads(self.query(vectors)), self.split_heads(self.key(vectors))


class Convolution(nn.Module):
    """What neighbouring tokens say together, added to what the first layer makes of them (version 2, xlarge)."""

    def __init__(self, config: DebertaV2Config):
        super().__init__()
        width = config.conv_kernel_size
        self.conv = nn.Conv1d(config.hidden_size, config.hidden_size, width, padding=width // 2)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.activation = nn.Tanh() if config.conv_act == "tanh" else activation(config.conv_act)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, embedded: Tensor, hidden_states: Tensor, real: Tensor) -> Tensor:
        """embedded: what the first layer read, hidden_states: what it made of it, [B, T, D]; real [B, T]."""
        read = self.conv(embedded.transpose(1, 2)).transpose(1, 2)  # padding is zero in the embeddings
        read = self.activation(self.dropout(read))
        return self.norm(hidden_states + read) * real[..., None]


class DebertaV2Layer(DisentangledLayer):
    """BERT's layer with the attention of versions 2 and 3."""

    attention_class = DebertaV2Attention


class ConvolvedLayer(DebertaV2Layer):
    """A first layer with a convolution beside it."""

    def __init__(self, config: DebertaV2Config):
        super().__init__(config)
        self.convolution = Convolution(config)

    def forward(  # type: ignore[override]
        self,
        hidden_states: Tensor,
        context: Context,
        output_attentions: bool = False,
        query_states: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """As a layer without it."""
        changed, weights = super().forward(hidden_states, context, output_attentions, query_states)
        return self.convolution(hidden_states, changed, context.real), weights


class DebertaV2Encoder(DisentangledEncoder):
    """The layers, and one normalised table of buckets for all of them."""

    layer_class = DebertaV2Layer

    def __init__(self, config: DebertaV2Config):
        super().__init__(config)
        self.farthest = config.farthest
        self.relative_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        if config.conv_kernel_size:
            self.layers[0] = ConvolvedLayer(config)

    def distances(self, length: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """The vectors of all buckets, and which of them holds for query i and key j, [T, T]."""
        span = self.relative.num_embeddings // 2
        places = torch.arange(length, device=device)
        buckets = log_buckets(places[:, None] - places, span, self.farthest)
        return self.relative_norm(self.relative.weight), (buckets + span).clamp(0, 2 * span - 1)


class DebertaV2Model(DisentangledModel):
    """DeBERTa, versions 2 and 3, without a head."""

    encoder_class = DebertaV2Encoder


INSIDE = ("encoder.layers.{n}.attention.", "encoder.layer.{n}.attention.self.")

ARCHITECTURE = Architecture(
    name="DebertaV2",
    config=DebertaV2Config,
    encoder=DebertaV2Model,
    language_model_head=MaskedLMHead,
    names=replace(
        NAMES,
        rows=(
            ("encoder.relative_norm.", "encoder.LayerNorm."),
            ("encoder.layers.0.convolution.norm.", "encoder.conv.LayerNorm."),
            ("encoder.layers.0.convolution.", "encoder.conv."),
            *((f"{INSIDE[0]}{name}.", f"{INSIDE[1]}{name}_proj.") for name in ("query", "key", "value")),
            *NAMES.rows,
        ),
    ),
    tokenizer=DebertaV2Tokenizer,
    transforms={"ForSequenceClassification": ContextPooler, "ForMultipleChoice": ContextPooler},
)
