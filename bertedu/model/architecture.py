"""What a member of the family is: an encoder, and a record of all that is its own. Heads and training know no more.

A member is registered in `bertedu/family/__init__.py`, and imported when it is first asked for.
Shapes: B batch, T tokens, D hidden size, H heads, L layers.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from bertedu.checkpoints.names import NameMap
from bertedu.config import CONFIG, EncoderConfig, model_type_of
from bertedu.errors import UserError, shown
from bertedu.model.initialization import MatchingWeights, initialize_as_published
from bertedu.registry import ARCHITECTURES
from bertedu.tokenization import Tokenizer


def initialize_like_bert(part: nn.Module, config: EncoderConfig) -> None:
    """The initialization of BERT, and of most that came after it."""
    initialize_as_published(part, config.initializer_range)


@dataclass
class EncoderOutput:
    """What an encoder says about a batch. hidden_states and attentions are there when they were asked for."""

    last_hidden_state: Tensor  # [B, T, D]
    pooler_output: Tensor | None  # [B, D]; None for a model without a pooler
    hidden_states: tuple[Tensor, ...] | None = None  # L + 1 times [B, T, D], the embeddings first
    attentions: tuple[Tensor, ...] | None = None  # L times [B, H, T, T]


class Backbone(Protocol):
    """From ids to vectors: a module that heads stand on, whichever member of the family it is."""

    config: EncoderConfig

    @property
    def token_embeddings(self) -> nn.Embedding:
        """The table of token embeddings, [V, D], to which a language-model head may be tied."""

    def depth(self, name: str) -> int:
        """How deep a weight lies, by its name: 0 embeddings, 1 to L the layers, L + 1 the pooler.

        Freezing, layer-wise learning rates and Muon go by it.
        """

    def __call__(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """input_ids, attention_mask (1 text, 0 padding), token_type_ids: [B, T]. A member without segments ignores
        token_type_ids.
        """


@dataclass(frozen=True)
class Architecture:
    """A member of the family.

    name is how its classes begin in `transformers` ("Bert"); class_names holds those that do not follow the pattern,
    by the kind of model ("ForMaskedLM"). encoder(config, add_pooling_layer=…) makes the encoder, and
    language_model_head(config, token_embeddings) what scores every word at a token: [..., D] to [..., V]. transforms
    hold what a member puts between the encoder and the last linear layer of a task, by the kind of model: made from the
    config, they turn the last hidden states [B, T, D] and the attention_mask [B, T] into a vector for each text, [B, D]
    ("ForSequenceClassification", "ForMultipleChoice", in place of the encoder's pooler), or for each token, [B, T, D].
    initialize(part, config) gives the weights of an encoder's part, or of a head, their published starting values.
    for_pretraining is the class of what `transformers` calls "ForPreTraining", where that has no masked-word head;
    for_masked_lm a MaskedLM that finds out in another way which word is hidden. matching names what the initialization
    for short runs sets in an encoder; None where that means nothing.
    """

    name: str
    config: type[EncoderConfig]
    encoder: Any  # a class that is a PretrainedModel and a Backbone
    language_model_head: Callable[[Any, nn.Embedding], nn.Module]
    names: NameMap
    tokenizer: type[Tokenizer]
    class_names: Mapping[str, str] = field(default_factory=dict)
    transforms: Mapping[str, Callable[[Any], nn.Module]] = field(default_factory=dict)
    initialize: Callable[[nn.Module, Any], None] = initialize_like_bert
    for_pretraining: Any = None
    for_masked_lm: Any = None
    matching: Callable[[Any], MatchingWeights] | None = None

    def class_name(self, kind: str) -> str:
        """What `transformers` calls a kind of model: "BertForMaskedLM" for "ForMaskedLM"."""
        return self.class_names.get(kind, self.name + kind)


def architecture(model_type: str) -> Architecture:
    """The member that config.json calls so. Raises UserError for one that is not there."""
    return ARCHITECTURES[model_type]


def architecture_in(folder: str | Path) -> Architecture:
    """The member whose model a folder holds. Raises UserError for an unknown one."""
    model_type = model_type_of(folder)
    if model_type not in ARCHITECTURES:
        raise UserError(
            f"{Path(folder) / CONFIG}: model_type is {shown(model_type)}, and only "
            f"{', '.join(map(repr, ARCHITECTURES))} can be read here."
        )
    return architecture(model_type)


def tokenizer_in(folder: str | Path) -> Tokenizer:
    """The tokenizer beside a model. A warning says where the model has more ids than it: tokens may have been lost.

    Raises UserError where there is no usable one, and where it has ids that the model lacks.
    """
    member = architecture_in(folder)
    tokenizer, ids = member.tokenizer.from_pretrained(folder), member.config.load(folder).vocab_size
    if len(tokenizer) > ids:
        raise UserError(
            f"{folder}: the tokenizer has {len(tokenizer)} tokens and the model knows {ids}: "
            "use the tokenizer that was saved with the model."
        )
    if len(tokenizer) < ids:
        warnings.warn(
            f"{folder}: the model has {ids} ids and the tokenizer {len(tokenizer)} tokens: no text becomes the others; "
            "where tokens were added to it, copy its tokenizer.json or added_tokens.json too.",
            stacklevel=3,
        )
    return tokenizer


def class_names(*kinds: str) -> list[str]:
    """What `transformers` calls these kinds of models, for every member of the family."""
    return [architecture(model_type).class_name(kind) for model_type in ARCHITECTURES for kind in kinds]
