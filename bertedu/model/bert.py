"""BERT: embeddings, encoder and pooler. Put together in notebook 05 (Devlin et al. 2019, section 3)."""

import re
from typing import ClassVar

import torch
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.errors import UserError
from bertedu.model.architecture import EncoderOutput
from bertedu.model.attention import SelfAttention, padding_bias
from bertedu.model.embeddings import BertEmbeddings
from bertedu.model.encoder import Encoder
from bertedu.model.initialization import MatchingWeights
from bertedu.model.pretrained import PretrainedModel

BertOutput = EncoderOutput
LAYER = re.compile(r"encoder\.layers\.(\d+)\.")


class Pooler(nn.Module):
    """One vector for the whole text: the vector of [CLS] through a linear layer and tanh, [B, T, D] to [B, D]."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return torch.tanh(self.dense(hidden_states[:, 0]))


class BertModel(PretrainedModel):
    """BERT without a head. Weights start as published (see `initialization.py`).

    A model that only fills in masks has no use for the pooler: add_pooling_layer=False leaves it out. A member of the
    family that differs in its embeddings or its encoder names its own classes.
    """

    embeddings_class: ClassVar[type[BertEmbeddings]] = BertEmbeddings
    encoder_class: ClassVar[type[nn.Module]] = Encoder

    def __init__(self, config: BertConfig, add_pooling_layer: bool = True):
        super().__init__(config)
        self.embeddings = self.embeddings_class(config)
        self.encoder = self.encoder_class(config)
        self.pooler = Pooler(config.hidden_size) if add_pooling_layer else None
        self.initialize()

    @property
    def token_embeddings(self) -> nn.Embedding:
        """The table of token embeddings, [V, D]."""
        return self.embeddings.token

    def depth(self, name: str) -> int:
        """How deep a weight lies: 0 embeddings, 1 to L the layers of the encoder, L + 1 the pooler."""
        if match := LAYER.match(name):
            return 1 + int(match[1])
        return 0 if name.startswith("embeddings.") else self.config.num_hidden_layers + 1

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """input_ids, attention_mask (1 text, 0 padding), token_type_ids (0 first, 1 second text): [B, T].

        Raises UserError when the three differ in shape, for more tokens than positions, and for ids beyond the
        vocabulary (on the CPU: a GPU stops with an error of its own).
        """
        check_shapes(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        vectors = self.embeddings(input_ids, token_type_ids)  # [B, T, D]
        bias = None if attention_mask is None else padding_bias(attention_mask, vectors.dtype)
        hidden_states, attentions = self.encoder(vectors, bias, output_attentions)
        return EncoderOutput(
            last_hidden_state=hidden_states[-1],
            pooler_output=None if self.pooler is None else self.pooler(hidden_states[-1]),
            hidden_states=hidden_states if output_hidden_states else None,
            attentions=attentions if output_attentions else None,
        )


def matching_weights(encoder: BertModel) -> MatchingWeights:
    """Where the initialization for short runs finds its weights. RoBERTa's positions below the first are not used."""
    embeddings, first = encoder.embeddings, next(m for m in encoder.modules() if isinstance(m, SelfAttention))
    drawn = (embeddings.token, embeddings.token_type)
    return MatchingWeights(
        query=first.query.weight,
        key=first.key.weight,
        tables=tuple(table.weight for table in drawn if isinstance(table, nn.Embedding)),  # DistilBERT has no segments
        positions=embeddings.position.weight[-encoder.config.max_tokens :],
    )


def check_shapes(input_ids: Tensor, **others: Tensor | None) -> None:
    """Raise UserError unless input_ids are a batch of texts [B, T], and the others of the same shape."""
    if input_ids.dim() != 2 or input_ids.size(1) == 0:
        raise UserError(
            f"input_ids have the shape {list(input_ids.shape)}: give a batch of texts [B, T] with at least one "
            "token each (one text alone: input_ids[None])."
        )
    for name, tensor in others.items():  # a mask [B, 1] would broadcast, and hide all or nothing
        if tensor is not None and tensor.shape != input_ids.shape:
            raise UserError(
                f"{name} has the shape {list(tensor.shape)} and input_ids {list(input_ids.shape)}: "
                "give one number for each token."
            )
