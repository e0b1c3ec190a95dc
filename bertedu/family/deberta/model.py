"""What both versions of DeBERTa share around their attention: embeddings, layer, encoder, the vector of a text.

Shapes: B batch, T tokens, D hidden size, H heads, s the farthest distance that is told apart.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from bertedu.errors import UserError
from bertedu.family.deberta.attention import Context
from bertedu.family.deberta.config import DebertaConfig
from bertedu.model.architecture import EncoderOutput
from bertedu.model.bert import LAYER, check_shapes
from bertedu.model.embeddings import look_up
from bertedu.model.encoder import EncoderLayer, activation, run_layers
from bertedu.model.pretrained import PretrainedModel


class DebertaEmbeddings(nn.Module):
    """Token embeddings, normalised: ids [B, T] to [B, T, D]. Padding enters the encoder as zeros."""

    def __init__(self, config: DebertaConfig):
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.position = None
        if config.position_biased_input:
            self.position = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Raises UserError for ids beyond the vocabulary, and for more tokens than absolute positions, if it has any.
        Distances have no end: without absolute positions a text may be of any length.
        """
        length, vectors = input_ids.size(1), look_up(self.token, input_ids)
        if self.position is not None:
            if length > (positions := self.position.num_embeddings):
                raise UserError(f"a text has {length} tokens and this model {positions} positions: shorten it.")
            vectors = vectors + self.position.weight[:length]
        vectors = self.norm(vectors) * attention_mask.unsqueeze(-1)  # after the norm, which would make it text again
        return self.dropout(vectors)


class DisentangledLayer(EncoderLayer):
    """BERT's layer around disentangled attention. A version of DeBERTa says which attention_class it has."""

    def forward(  # type: ignore[override]
        self,
        hidden_states: Tensor,
        context: Context,
        output_attentions: bool = False,
        query_states: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """As BERT's. With query_states it is these that go on, changed; hidden_states are only attended to."""
        mixed, weights = self.attention(hidden_states, context, output_attentions, query_states)
        return self.after_attention(hidden_states if query_states is None else query_states, mixed), weights


class DisentangledEncoder(nn.Module):
    """The layers, and the table of distances that they share. A version of DeBERTa says which layers it has."""

    layer_class: ClassVar[type[DisentangledLayer]]

    def __init__(self, config: DebertaConfig):
        super().__init__()
        self.layers = nn.ModuleList(self.layer_class(config) for _ in range(config.num_hidden_layers))
        self.relative = nn.Embedding(2 * config.span, config.hidden_size)

    def distances(self, length: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """A vector for each distance that T tokens can have, [2 s, D], and which of them holds for query i and key j,
        [T, T].
        """
        raise NotImplementedError

    def context(self, attention_mask: Tensor) -> Context:
        """What all layers share for texts with this mask."""
        vectors, index = self.distances(attention_mask.size(1), attention_mask.device)
        return Context(vectors, index, attention_mask.bool())

    def forward(
        self, hidden_states: Tensor, context: Context, output_attentions: bool = False
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Returns L + 1 hidden states [B, T, D], the input first, and L attentions [B, H, T, T] (or none)."""
        return run_layers(self.layers, hidden_states, context, output_attentions)


class DisentangledModel(PretrainedModel):
    """DeBERTa without a head. It has no pooler: the vector of a text is what its head makes of [CLS]."""

    encoder_class: ClassVar[type[DisentangledEncoder]]

    def __init__(self, config: DebertaConfig, add_pooling_layer: bool = False):
        super().__init__(config)
        self.embeddings = DebertaEmbeddings(config)
        self.encoder = self.encoder_class(config)
        self.initialize()

    @property
    def token_embeddings(self) -> nn.Embedding:
        """The table of token embeddings, [V, D]."""
        return self.embeddings.token

    def depth(self, name: str) -> int:
        """0 embeddings, 1 to L the layers. The table of distances is first read in layer 1."""
        match = LAYER.match(name)
        return 0 if name.startswith("embeddings.") else 1 + (int(match[1]) if match else 0)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """As BERT's. Segments are not told apart: token_type_ids make no difference."""
        check_shapes(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        attention_mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        vectors = self.embeddings(input_ids, attention_mask)
        context = self.encoder.context(attention_mask)
        hidden_states, attentions = self.encoder(vectors, context, output_attentions)
        return EncoderOutput(
            last_hidden_state=hidden_states[-1],
            pooler_output=None,
            hidden_states=hidden_states if output_hidden_states else None,
            attentions=attentions if output_attentions else None,
        )


class ContextPooler(nn.Module):
    """One vector for a text: that of [CLS] through a linear layer and GELU, where BERT's pooler has tanh."""

    def __init__(self, config: DebertaConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation("gelu")

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """[B, T, D] to [B, D]."""
        return self.activation(self.dense(hidden_states[:, 0]))
