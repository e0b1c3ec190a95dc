"""DistilBERT: half of BERT's layers, taught by the whole (Sanh et al. 2019, section 3).

What changes against BERT:
- Six layers in place of twelve, of the same width: what costs time is the number of layers, one after the other.
- No segments, and no pooler: the next-sentence task is left out, as in RoBERTa. `token_type_ids` are ignored.
- Its weights start as every second layer of the teacher (`student_of`), and it learns what the teacher predicts.
- A task that reads one vector for a text has a linear layer with ReLU of its own between [CLS] and the classes, with
  fresh weights, where BERT has its pre-trained pooler with tanh (`transformers`, modeling_distilbert).
The layers themselves are BERT's. Shapes: B batch, T tokens, D hidden size, L layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from bertedu.checkpoints.names import NameMap
from bertedu.config import PRESETS, EncoderConfig
from bertedu.errors import UserError
from bertedu.model.architecture import Architecture
from bertedu.model.bert import BertModel, matching_weights
from bertedu.model.embeddings import BertEmbeddings
from bertedu.model.heads import BertForPreTraining, MaskedLM, MaskedLMHead
from bertedu.tokenization import BertTokenizer

EPSILON = 1e-12  # of every LayerNorm: written into the code of `transformers`, and in no config.json


@dataclass(frozen=True)
class DistilBertConfig(EncoderConfig):
    """What a DistilBERT is made of; a preset has half of the layers of the BERT that is called so.

    seq_classif_dropout comes before the last layer where a text or a choice is classified, qa_dropout where answers are
    found.
    """

    model_type: ClassVar[str] = "distilbert"
    # sinusoidal_pos_embds, which some published configs set, says only how the position embeddings were drawn: they
    # stand in the file like all others.
    names_on_disk: ClassVar[dict[str, str]] = {
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
        "hidden_act": "activation",
        "hidden_dropout_prob": "dropout",
        "attention_probs_dropout_prob": "attention_dropout",
    }
    presets: ClassVar[dict[str, tuple[int, int, int]]] = {
        name: (layers // 2, hidden_size, heads) for name, (layers, hidden_size, heads) in PRESETS.items()
    }
    type_vocab_size: ClassVar[int] = 1

    num_hidden_layers: int = 6
    qa_dropout: float = 0.1
    seq_classif_dropout: float = 0.2

    @property
    def head_dropout_prob(self) -> float:
        """The dropout before the last layer of a task. In `transformers` tags have that of the layers."""
        return self.seq_classif_dropout

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layer_norm_eps != EPSILON:
            raise UserError(
                f"config: layer_norm_eps is {self.layer_norm_eps!r}, and a DistilBERT has {EPSILON}: leave it out."
            )


class NoSegments(nn.Module):
    """Instead of BERT's segment embeddings: it adds nothing, whatever token_type_ids say."""

    def forward(self, token_type_ids: Tensor) -> float:
        return 0.0


class DistilBertEmbeddings(BertEmbeddings):
    """The sum of two learned vectors for each token, its own and its position's, normalised: [B, T] to [B, T, D]."""

    def __init__(self, config: Any):
        super().__init__(config)
        self.token_type = NoSegments()  # type: ignore[assignment]


class DistilBertModel(BertModel):
    """DistilBERT without a head. It has no pooler, whether one is asked for or not."""

    embeddings_class = DistilBertEmbeddings

    def __init__(self, config: DistilBertConfig, add_pooling_layer: bool = False):
        super().__init__(config, add_pooling_layer=False)  # type: ignore[arg-type]


class FirstToken(nn.Module):
    """The vector of [CLS] through a linear layer and ReLU: [B, T, D] to [B, D]."""

    def __init__(self, config: DistilBertConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None) -> Tensor:
        return self.dense(hidden_states[:, 0]).relu()


class AnswerDropout(nn.Module):
    """Dropout on the vectors [B, T, D] from which start and end are read; BERT has none there."""

    def __init__(self, config: DistilBertConfig):
        super().__init__()
        self.dropout = nn.Dropout(config.qa_dropout)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None) -> Tensor:
        return self.dropout(hidden_states)


OURS, THEIRS = "encoder.layers.{n}.", "transformer.layer.{n}."
PRE_CLASSIFIER = (("transform.dense.", "pre_classifier."),)
ARCHITECTURE = Architecture(
    name="DistilBert",
    config=DistilBertConfig,
    encoder=DistilBertModel,
    language_model_head=MaskedLMHead,
    names=NameMap(
        rows=(
            ("embeddings.token.", "embeddings.word_embeddings."),
            ("embeddings.position.", "embeddings.position_embeddings."),
            ("embeddings.norm.", "embeddings.LayerNorm."),
            (f"{OURS}attention.query.", f"{THEIRS}attention.q_lin."),
            (f"{OURS}attention.key.", f"{THEIRS}attention.k_lin."),
            (f"{OURS}attention.value.", f"{THEIRS}attention.v_lin."),
            (f"{OURS}attention.output.", f"{THEIRS}attention.out_lin."),
            (f"{OURS}attention_norm.", f"{THEIRS}sa_layer_norm."),
            (f"{OURS}feed_forward.expand.", f"{THEIRS}ffn.lin1."),
            (f"{OURS}feed_forward.shrink.", f"{THEIRS}ffn.lin2."),
            (f"{OURS}feed_forward_norm.", f"{THEIRS}output_layer_norm."),
            ("masked_lm.dense.", "vocab_transform."),
            ("masked_lm.norm.", "vocab_layer_norm."),
            ("masked_lm.decoder.", "vocab_projector."),
        ),
        prefix="distilbert",
        tied=("masked_lm.decoder.weight",),
        dropped=("position_ids",),
        heads={"ForSequenceClassification": PRE_CLASSIFIER, "ForMultipleChoice": PRE_CLASSIFIER},
    ),
    tokenizer=BertTokenizer,
    transforms={
        "ForSequenceClassification": FirstToken,
        "ForMultipleChoice": FirstToken,
        "ForQuestionAnswering": AnswerDropout,
    },
    matching=matching_weights,
)


def copied_layers(of_teacher: int, of_student: int) -> tuple[int, ...]:
    """Which of the teacher's layers the student starts from, from 0: spread evenly from the first to the last.

    For 12 and 6 they are 0, 2, 4, 7, 9 and 11, as in the authors' code (extract_distilbert).
    """
    if not 1 <= of_student <= of_teacher:
        raise UserError(f"a student has 1 to {of_teacher} layers, as many as its teacher, and not {of_student}.")
    step = (of_teacher - 1) / max(1, of_student - 1)
    return tuple(round(layer * step) for layer in range(of_student))


@torch.no_grad()
def student_of(teacher: MaskedLM | BertForPreTraining, layers: Sequence[int] | None = None) -> MaskedLM:
    """A DistilBERT with its masked-word head whose weights are copies of a BERT's: embeddings, head, and those layers,
    counted from 0 (half of them, spread evenly).

    The student has no segments. BERT adds the vector of segment 0 to every token of a single text, so it is added to
    the position embeddings here: a student of all layers computes what its teacher does. (The authors' code leaves it
    out.) Raises UserError for a teacher that is no BERT, and for a layer that it does not have.
    """
    given = teacher.config
    if given.model_type != "bert":
        raise UserError(f"the teacher's model_type is {given.model_type!r}: layers are copied from a BERT only.")
    total = given.num_hidden_layers
    layers = copied_layers(total, max(1, total // 2)) if layers is None else tuple(layers)
    if not layers or not all(0 <= layer < total for layer in layers):
        raise UserError(f"layers are {list(layers)}: give numbers from 0 to {total - 1}.")
    shared = {field.name: getattr(given, field.name) for field in fields(EncoderConfig)}
    student = MaskedLM(DistilBertConfig(**{**shared, "num_hidden_layers": len(layers)}))
    bert, distilbert = teacher.get_submodule(teacher.encoder_name).state_dict(), student.get_submodule("encoder")
    weights = {name: bert[name] for name in distilbert.state_dict() if name.startswith("embeddings.")}
    weights["embeddings.position.weight"] = bert["embeddings.position.weight"] + bert["embeddings.token_type.weight"][0]
    for number, layer in enumerate(layers):
        inside = f"encoder.layers.{layer}."
        for name in bert:
            if name.startswith(inside):
                weights[f"encoder.layers.{number}.{name.removeprefix(inside)}"] = bert[name]
    distilbert.load_state_dict(weights)
    student.masked_lm.load_state_dict(teacher.masked_lm.state_dict())
    return student.eval()
