"""ALBERT: one layer, run L times, on small embeddings (Lan et al. 2020; google-research/albert).

What changes against BERT:
- The embeddings have E = 128 numbers for each token and one matrix maps them to the hidden size D (section 3.1,
  "factorized embedding parameterization"): V·E + E·D weights in place of V·D.
- All L layers have the same weights ("cross-layer parameter sharing"). The model is smaller, and not faster: it
  computes as much as a BERT with L layers. The config also allows groups of consecutive layers, each group with its own
  weights, and several layers in a group that run one after the other; the released models have one group of one layer.
- The second task of pre-training is sentence order: are two consecutive texts swapped? `BertForPreTraining` has that
  head as `next_sentence`: class 0 is the original order, 1 swapped.
- No dropout ("Additional training data and dropout effects"; version 2 of the released models), and GELU in the tanh
  form of Google's code. The residual dropouts are where BERT has them, as in Google's code; `transformers` has none
  after the feed-forward.
Shapes: B batch, T tokens, D hidden size, E embedding size, L layers, G groups.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from bertedu.checkpoints.names import NameMap
from bertedu.config import PRESETS, BertConfig
from bertedu.errors import UserError
from bertedu.model.architecture import Architecture
from bertedu.model.bert import BertModel
from bertedu.model.embeddings import BertEmbeddings
from bertedu.model.encoder import EncoderLayer, activation, run_layers
from bertedu.model.heads import TiedDecoder
from bertedu.tokenization.albert import AlbertTokenizer

GROUP = re.compile(r"encoder\.groups\.(\d+)\.")


@dataclass(frozen=True)
class AlbertConfig(BertConfig):
    """What an ALBERT is made of; the defaults are ALBERT-xxlarge, as in `transformers`.

    inner_group_num: how many layers a group holds. classifier_dropout_prob is the dropout before the last layer of a
    task.
    """

    model_type: ClassVar[str] = "albert"
    # Table 1 of the paper has base, large, xlarge and xxlarge; the released xlarge has 16 heads.
    presets: ClassVar[dict[str, tuple[int, int, int]]] = PRESETS | {"xlarge": (24, 2048, 16), "xxlarge": (12, 4096, 64)}

    vocab_size: int = 30000
    hidden_size: int = 4096
    num_attention_heads: int = 64
    intermediate_size: int = 16384
    hidden_act: str = "gelu_new"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    embedding_size: int = 128
    num_hidden_groups: int = 1
    inner_group_num: int = 1
    classifier_dropout_prob: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("embedding_size", "num_hidden_groups", "inner_group_num"):
            self.check_size(name)
        if self.num_hidden_groups > self.num_hidden_layers:
            raise UserError(
                f"config: num_hidden_groups is {self.num_hidden_groups} and num_hidden_layers {self.num_hidden_layers}"
                ": give at most one group for each layer."
            )

    @property
    def head_dropout_prob(self) -> float:
        """The dropout before the last layer of a task; the rest of the model has none."""
        return self.classifier_dropout_prob

    def group_of(self, layer: int) -> int:
        """Which group's weights a layer uses, both counted from 0: neighbouring layers share, 0 0 0 1 1 1."""
        # The order of the divisions is that of `transformers`: rounding decides for layer 9 of 18 in 14 groups.
        return int(layer / (self.num_hidden_layers / self.num_hidden_groups))


class AlbertEmbeddings(BertEmbeddings):
    """BERT's embeddings, E numbers for each token."""

    def __init__(self, config: AlbertConfig):
        super().__init__(config, config.embedding_size)


class AlbertEncoder(nn.Module):
    """From the embeddings [B, T, E] through one matrix to [B, T, D], and then through G groups of layers."""

    def __init__(self, config: AlbertConfig):
        super().__init__()
        self.mapping_in = nn.Linear(config.embedding_size, config.hidden_size)  # Google's code: only where E ≠ D
        self.groups = nn.ModuleList(
            nn.ModuleList(EncoderLayer(config) for _ in range(config.inner_group_num))
            for _ in range(config.num_hidden_groups)
        )
        self.order = [config.group_of(layer) for layer in range(config.num_hidden_layers)]

    def forward(
        self, embeddings: Tensor, bias: Tensor | None = None, output_attentions: bool = False
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Returns the mapped embeddings and what each layer makes of them, [B, T, D], and the attentions (or none)."""
        layers = [layer for group in self.order for layer in self.groups[group].children()]  # the same again
        return run_layers(layers, self.mapping_in(embeddings), bias, output_attentions)


class AlbertModel(BertModel):
    """ALBERT without a head: BERT's embeddings, of size E, its layer, L times, and its pooler."""

    config: AlbertConfig
    embeddings_class = AlbertEmbeddings
    encoder_class = AlbertEncoder

    def depth(self, name: str) -> int:
        """How deep a weight lies: 0 embeddings, 1 to L the layers, L + 1 the pooler.

        A weight that several layers share lies where the last of them does: L, where all are one. It cannot learn
        slowly as the first layer and fast as the last, or be frozen as the one and not as the other. As the last layer
        it has nearly the full learning rate and begins right after the head, which is how ALBERT is fine-tuned; as the
        first, a layer_decay of 0.8 would leave 0.07 of the learning rate to all 12 layers. Between
        several groups the order is as in BERT.

        The matrix that maps E to D is part of layer 1: every token has a part in its gradient, as in that of a layer's
        matrices, and Muon trains it as one of them.
        """
        if match := GROUP.match(name):
            order = [self.config.group_of(layer) for layer in range(self.config.num_hidden_layers)]
            return max(layer for layer, group in enumerate(order, start=1) if group == int(match[1]))
        return 1 if name.startswith("encoder.mapping_in.") else super().depth(name)


class AlbertLMHead(nn.Module):
    """From a token's vector, D, back to the size of the embeddings, E, and to a score for every word: [..., V]."""

    def __init__(self, config: AlbertConfig, token_embeddings: nn.Embedding):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)
        self.activation = activation(config.hidden_act)
        self.norm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.decoder = TiedDecoder(token_embeddings)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return self.decoder(self.norm(self.activation(self.dense(hidden_states))))


OURS, THEIRS = "encoder.groups.{n}.{m}.", "encoder.albert_layer_groups.{n}.albert_layers.{m}."
ARCHITECTURE = Architecture(
    name="Albert",
    config=AlbertConfig,
    encoder=AlbertModel,
    language_model_head=AlbertLMHead,
    names=NameMap(
        rows=(
            ("embeddings.token.", "embeddings.word_embeddings."),
            ("embeddings.position.", "embeddings.position_embeddings."),
            ("embeddings.token_type.", "embeddings.token_type_embeddings."),
            ("embeddings.norm.", "embeddings.LayerNorm."),
            ("encoder.mapping_in.", "encoder.embedding_hidden_mapping_in."),
            (f"{OURS}attention.output.", f"{THEIRS}attention.dense."),
            (f"{OURS}attention_norm.", f"{THEIRS}attention.LayerNorm."),
            (f"{OURS}feed_forward.expand.", f"{THEIRS}ffn."),
            (f"{OURS}feed_forward.shrink.", f"{THEIRS}ffn_output."),
            (f"{OURS}feed_forward_norm.", f"{THEIRS}full_layer_layer_norm."),
            (OURS, THEIRS),  # attention.query, key and value
            ("pooler.dense.", "pooler."),  # one Linear there; the tanh has no weights
            ("masked_lm.dense.", "predictions.dense."),
            ("masked_lm.norm.", "predictions.LayerNorm."),
            ("masked_lm.decoder.bias", "predictions.bias"),
            ("masked_lm.decoder.", "predictions.decoder."),
            ("next_sentence.", "sop_classifier.classifier."),
        ),
        prefix="albert",
        tied=("masked_lm.decoder.weight",),
        dropped=("position_ids",),
    ),
    tokenizer=AlbertTokenizer,
)
