"""ModernBERT put together: the encoder, its initialization, its names, and the record of the member.

Shapes: B batch, T tokens, D hidden size, H heads, L layers.
"""

import math
import re

import torch
from torch import Tensor, nn

from bertedu.checkpoints.names import NameMap
from bertedu.family.modernbert.attention import RotaryAttention, local_bias
from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.feed_forward import GeGLU
from bertedu.family.modernbert.head import ModernBertLMHead, PredictionHead, SpanHead, TextHead, TokenHead
from bertedu.family.modernbert.layer import FirstLayer, PreNormLayer, layer_norm
from bertedu.family.modernbert.rope import rotation
from bertedu.model.architecture import Architecture, EncoderOutput
from bertedu.model.attention import padding_bias
from bertedu.model.bert import check_shapes
from bertedu.model.embeddings import look_up
from bertedu.model.initialization import draw, initialize_as_published
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import ModernBertTokenizer

LAYER = re.compile(r"layers\.(\d+)\.")


class ModernBertEmbeddings(nn.Module):
    """A vector for each token, normalised: no positions, no segments. ids [B, T] to [B, T, D]."""

    def __init__(self, config: ModernBertConfig):
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.norm = layer_norm(config)
        self.dropout = nn.Dropout(config.embedding_dropout)

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.dropout(self.norm(look_up(self.token, input_ids)))


class ModernBertModel(PretrainedModel):
    """ModernBERT without a head. There is no pooler: add_pooling_layer changes nothing."""

    def __init__(self, config: ModernBertConfig, add_pooling_layer: bool = False):
        super().__init__(config)
        self.config: ModernBertConfig = config
        self.embeddings = ModernBertEmbeddings(config)
        higher = (PreNormLayer(config) for _ in range(config.num_hidden_layers - 1))
        self.layers = nn.ModuleList([FirstLayer(config), *higher])
        self.final_norm = layer_norm(config)
        self.initialize()

    @property
    def token_embeddings(self) -> nn.Embedding:
        """The table of token embeddings, [V, D]."""
        return self.embeddings.token

    def depth(self, name: str) -> int:
        """How deep a weight lies: 0 embeddings, 1 to L the layers; the last norm belongs to the last layer."""
        if match := LAYER.match(name):
            return 1 + int(match[1])
        return 0 if name.startswith("embeddings.") else self.config.num_hidden_layers

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """input_ids, attention_mask (1 text, 0 padding): [B, T]; token_type_ids mean nothing here, since a pair is told
        apart by [SEP] alone. The last of the hidden states has passed the last norm.

        Raises UserError when the shapes differ and for ids beyond the vocabulary. A text may have any number of tokens.
        """
        check_shapes(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        vectors = self.embeddings(input_ids)  # [B, T, D]
        bias = None if attention_mask is None else padding_bias(attention_mask, vectors.dtype)
        positions = torch.arange(input_ids.size(1), device=input_ids.device)
        hidden_states, attentions = self.through_layers(vectors, positions, bias, output_attentions)
        return EncoderOutput(
            last_hidden_state=hidden_states[-1],
            pooler_output=None,
            hidden_states=hidden_states if output_hidden_states else None,
            attentions=attentions if output_attentions else None,
        )

    def through_layers(
        self, vectors: Tensor, positions: Tensor, bias: Tensor | None, output_attentions: bool = False
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """All layers and the last norm: vectors [B, T, D] that stand at positions [T], bias what nothing attends to.

        Returns L + 1 hidden states [B, T, D], the input first, and L attentions [B, H, T, T] (or none).
        """
        config = self.config
        everywhere = (rotation(positions, config.head_size, config.global_rope_theta), bias)
        nearby = (
            rotation(positions, config.head_size, config.local_rope_theta),
            local_bias(positions, config.local_attention, bias, vectors.dtype),
        )
        hidden_states, attentions = [vectors], []
        for number, layer in enumerate(self.layers):
            turn, hidden = everywhere if config.is_global(number) else nearby
            vectors, weights = layer(vectors, turn, hidden, output_attentions)
            hidden_states.append(vectors)
            if weights is not None:
                attentions.append(weights)
        hidden_states[-1] = self.final_norm(vectors)
        return tuple(hidden_states), tuple(attentions)


@torch.no_grad()
def initialize_modernbert(part: nn.Module, config: ModernBertConfig) -> None:
    """As BERT's, but the matrices whose result is added to the vectors that run through all layers start smaller, by
    √(2L): there are 2L such additions, and so their sum keeps its scale. The same for the head's dense layer.

    A task's last linear layer has the standard deviation 1/√D. Everything is truncated at two standard deviations
    (Warner et al. 2024, section 2.2.2, name Megatron's initialization; the numbers are those of `transformers`, which
    draws [PAD]'s vector like any other, where here it starts as zeros).
    """
    initialize_as_published(part, config.initializer_range)
    small = config.initializer_range / math.sqrt(2 * config.num_hidden_layers)
    for module in part.modules():
        if isinstance(module, RotaryAttention):
            draw(module.output.weight, small)
        elif isinstance(module, GeGLU):
            draw(module.shrink.weight, small)
        elif isinstance(module, PredictionHead):
            draw(module.dense.weight, small)
    if isinstance(part, nn.Linear):  # a linear layer that stands on its own above the encoder
        draw(part.weight, config.hidden_size**-0.5)


TRANSFORMS = {
    "ForSequenceClassification": TextHead,
    "ForMultipleChoice": TextHead,
    "ForTokenClassification": TokenHead,
    "CrfForTokenClassification": TokenHead,
    "ForQuestionAnswering": SpanHead,
}

MODERNBERT = NameMap(
    rows=(
        ("embeddings.token.", "embeddings.tok_embeddings."),
        ("layers.{n}.attention_norm.", "layers.{n}.attn_norm."),
        ("layers.{n}.attention.qkv.", "layers.{n}.attn.Wqkv."),
        ("layers.{n}.attention.output.", "layers.{n}.attn.Wo."),
        ("layers.{n}.feed_forward_norm.", "layers.{n}.mlp_norm."),
        ("layers.{n}.feed_forward.expand.", "layers.{n}.mlp.Wi."),
        ("layers.{n}.feed_forward.shrink.", "layers.{n}.mlp.Wo."),
        ("masked_lm.decoder.", "decoder."),
        ("masked_lm.", "head."),
    ),
    prefix="model",
    tied=("masked_lm.decoder.weight",),
    heads={
        **{kind: (("transform.", "head."),) for kind in TRANSFORMS},
        "ForQuestionAnswering": (("transform.", "head."), ("qa_outputs.", "classifier.")),
    },
)

ARCHITECTURE = Architecture(
    name="ModernBert",
    config=ModernBertConfig,
    encoder=ModernBertModel,
    language_model_head=ModernBertLMHead,
    names=MODERNBERT,
    tokenizer=ModernBertTokenizer,
    transforms=TRANSFORMS,
    initialize=initialize_modernbert,
)
