"""ELECTRA (Clark et al. 2020): BERT's encoder, pre-trained to find the tokens that another model put into the text.

What changes against BERT:
- Embeddings have a size E of their own, in which they are added up and normalised; a linear layer brings them to the
  hidden size D where that is another (section 3.3; `model/modeling.py` of google-research/electra).
- There is no pooler. A text is classified from the vector of [CLS] through a dense layer and GELU.
- A small *generator* fills in masked words, and the *discriminator* says of every token whether it was replaced
  (section 2). What is kept for later tasks is the discriminator: in `transformers` it is `ElectraForPreTraining`, and
  has no masked-word head. The generator is `ElectraForMaskedLM`. Both together: `electra_pair.py`.

Shapes: B batch, T tokens, D hidden size, E embedding size, V vocabulary.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, gelu

from bertedu.checkpoints.names import BERT, NameMap
from bertedu.config import BertConfig
from bertedu.model.architecture import Architecture, EncoderOutput
from bertedu.model.bert import BertModel, matching_weights
from bertedu.model.embeddings import BertEmbeddings
from bertedu.model.encoder import activation
from bertedu.model.heads import TiedDecoder
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import BertTokenizer

MOST_EMBEDDING_SIZE = 128  # of the small models; Base and Large have E = D (table 6)


@dataclass(frozen=True)
class ElectraConfig(BertConfig):
    """What an ELECTRA is made of; the defaults are ELECTRA-Small (Clark et al. 2020, table 6).

    embedding_size: how many numbers an embedding has before it enters the layers.
    """

    model_type: ClassVar[str] = "electra"
    # How multiple choice sums up a text: no published checkpoint does it in another way.
    fixed: ClassVar[dict[str, Any]] = {
        **BertConfig.fixed,
        "summary_type": "first",
        "summary_use_proj": True,
        "summary_activation": "gelu",
    }

    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024
    embedding_size: int = MOST_EMBEDDING_SIZE

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_size("embedding_size")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """A size of BERT; its embeddings have at most 128 numbers, and as many as a token in base and large."""
        config = super().preset(name, **changes)
        if "embedding_size" in changes:
            return config
        size = config.hidden_size if name in ("base", "large") else min(MOST_EMBEDDING_SIZE, config.hidden_size)
        return super().preset(name, **changes, embedding_size=size)


class ElectraEmbeddings(BertEmbeddings):
    """BERT's in E numbers, LayerNorm and dropout too, and then brought to D: ids [B, T] to [B, T, D]."""

    def __init__(self, config: ElectraConfig):
        super().__init__(config, config.embedding_size)
        same = config.embedding_size == config.hidden_size  # then the published weights have no such layer
        self.project = nn.Identity() if same else nn.Linear(config.embedding_size, config.hidden_size)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """As BertEmbeddings."""
        return self.project(super().forward(input_ids, token_type_ids))


class ElectraModel(BertModel):
    """ELECTRA's encoder: discriminator and generator have the same. It has no pooler."""

    embeddings_class = ElectraEmbeddings

    def __init__(self, config: ElectraConfig, add_pooling_layer: bool = False):
        super().__init__(config, add_pooling_layer=False)


class GeneratorHead(nn.Module):
    """From a token's vector to a score for every word: [..., D] to [..., V]. The decoder is tied to embeddings of E
    numbers, so dense goes from D to E.
    """

    def __init__(self, config: ElectraConfig, token_embeddings: nn.Embedding):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)
        self.norm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.decoder = TiedDecoder(token_embeddings)

    def forward(self, hidden_states: Tensor) -> Tensor:
        # GELU whatever hidden_act is, as in `transformers`; in Google's code it is hidden_act, always "gelu" there.
        return self.decoder(self.norm(gelu(self.dense(hidden_states))))


class ReplacedTokenHead(nn.Module):
    """Is this token another one than in the text? A score for each, above 0 for yes: [B, T, D] to [B, T].

    No LayerNorm stands in it, unlike in the generator's head.
    """

    def __init__(self, config: ElectraConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation(config.hidden_act)
        self.prediction = nn.Linear(config.hidden_size, 1)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return self.prediction(self.activation(self.dense(hidden_states))).squeeze(-1)


@dataclass
class DiscriminatorOutput:
    """A score for each token, [B, T], above 0 where it seems replaced; the loss when labels were given; and what the
    encoder said.
    """

    logits: Tensor
    encoder: EncoderOutput
    loss: Tensor | None = None

    @property
    def hidden_states(self) -> tuple[Tensor, ...] | None:
        """The encoder's hidden states, when they were asked for."""
        return self.encoder.hidden_states

    @property
    def attentions(self) -> tuple[Tensor, ...] | None:
        """The encoder's attention weights, when they were asked for."""
        return self.encoder.attentions


def detection_loss(logits: Tensor, labels: Tensor, real: Tensor, reduction: str = "mean") -> Tensor:
    """Binary cross-entropy over all real tokens, [CLS] and [SEP] among them; padding has no part. All [B, T], labels 1
    where a token was replaced. In float32 also where the model computes in 16 bits.
    """
    return binary_cross_entropy_with_logits(logits[real].float(), labels[real].float(), reduction=reduction)


class ElectraForPreTraining(PretrainedModel):
    """The discriminator: ELECTRA's encoder, and for each token whether it was replaced."""

    kind = "ForPreTraining"
    encoder_name = "encoder"

    def __init__(self, config: ElectraConfig):
        super().__init__(config)
        self.encoder = ElectraModel(config)
        self.detector = ReplacedTokenHead(config)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> DiscriminatorOutput:
        """labels [B, T]: 1 where the token was replaced, 0 where it is the original one."""
        output = self.encoder(input_ids, attention_mask, token_type_ids, output_attentions, output_hidden_states)
        logits = self.detector(output.last_hidden_state)
        if labels is None:
            return DiscriminatorOutput(logits, output)
        real = torch.ones_like(labels).bool() if attention_mask is None else attention_mask.bool()
        return DiscriminatorOutput(logits, output, detection_loss(logits, labels, real))


class ClassifiedText(nn.Module):
    """[CLS] through dropout, a dense layer and GELU (BERT's pooler has tanh): [B, T, D] to [B, D]. GELU whatever
    hidden_act is. The classifier's own dropout and linear layer come after it.
    """

    def __init__(self, config: ElectraConfig):
        super().__init__()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return gelu(self.dense(self.dropout(hidden_states[:, 0])))


class SummedUpText(nn.Module):
    """[CLS] through a dense layer and GELU, for multiple choice: [B, T, D] to [B, D]. Unlike ClassifiedText it has no
    dropout before; the one after it is `summary_last_dropout` in `transformers`, 0.1 as that of the layers.
    """

    def __init__(self, config: ElectraConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return gelu(self.dense(hidden_states[:, 0]))


NAMES = NameMap(
    rows=(
        ("embeddings.project.", "embeddings_project."),
        ("masked_lm.dense.", "generator_predictions.dense."),
        ("masked_lm.norm.", "generator_predictions.LayerNorm."),
        ("masked_lm.decoder.", "generator_lm_head."),  # its bias stands here, where BERT's is of the predictions
        ("detector.prediction.", "discriminator_predictions.dense_prediction."),
        ("detector.", "discriminator_predictions."),
        *(row for row in BERT.rows if row[0].startswith(("embeddings.", "encoder."))),
    ),
    prefix="electra",
    tied=BERT.tied,
    dropped=BERT.dropped,
    heads={
        "ForSequenceClassification": (
            ("transform.dense.", "classifier.dense."),
            ("classifier.", "classifier.out_proj."),
        ),
        "ForMultipleChoice": (("transform.dense.", "sequence_summary.summary."),),
    },
)

ARCHITECTURE = Architecture(
    name="Electra",
    config=ElectraConfig,
    encoder=ElectraModel,
    language_model_head=GeneratorHead,
    names=NAMES,
    tokenizer=BertTokenizer,
    transforms={"ForSequenceClassification": ClassifiedText, "ForMultipleChoice": SummedUpText},
    for_pretraining=ElectraForPreTraining,
    matching=matching_weights,
)
