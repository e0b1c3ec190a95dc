"""The heads of pre-training: which word was masked, and does the second text follow the first?

Devlin et al. 2019, section 3.1. Shapes: B batch, T tokens, D hidden size, V vocabulary, N labelled tokens.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from bertedu.checkpoints.names import BERT
from bertedu.config import BertConfig, EncoderConfig
from bertedu.errors import UserError
from bertedu.model.architecture import Architecture, Backbone, EncoderOutput, architecture
from bertedu.model.bert import BertModel, matching_weights
from bertedu.model.encoder import activation
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import BertTokenizer

IGNORED = -100  # the label of a token that is not to be predicted; cross_entropy's own default


@dataclass
class PreTrainingOutput:
    """Scores of the heads, the loss when labels were given, and what BERT itself said.

    prediction_logits are [B, T, V]; with labels or masked_positions [N, V], a row for each such token in reading
    order.
    """

    prediction_logits: Tensor
    seq_relationship_logits: Tensor | None  # [B, 2]: 0 IsNext, 1 NotNext; None without a pooler's head
    bert: EncoderOutput
    loss: Tensor | None = None

    @property
    def hidden_states(self) -> tuple[Tensor, ...] | None:
        """The encoder's hidden states, when they were asked for."""
        return self.bert.hidden_states

    @property
    def attentions(self) -> tuple[Tensor, ...] | None:
        """The encoder's attention weights, when they were asked for."""
        return self.bert.attentions


def vectors_at(hidden_states: Tensor, positions: Tensor) -> Tensor:
    """The vectors of some tokens, [B, T, D] to [N, D]: those for which booleans [B, T] are true; or those at given
    positions [B, M], the same number in each text, for which no GPU has to count first.
    """
    if positions.dtype == torch.bool:
        return hidden_states[positions]
    texts, length, _ = hidden_states.shape
    starts = torch.arange(0, texts * length, length, device=positions.device)  # of each text, all written in one row
    return hidden_states.flatten(0, 1).index_select(0, (starts[:, None] + positions).flatten())


def mean_cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """The mean of -log p(label) over scores [N, C], computed in float32 also where the model computes in 16 bits.

    Raises UserError for a label that has no score (on the CPU: a GPU stops with an error of its own).
    """
    try:
        return cross_entropy(scores.float(), labels)
    except IndexError:
        outside = labels[(labels < 0) | (labels >= scores.size(-1))]
        raise UserError(
            f"label {outside[0].item()} is outside the {scores.size(-1)} classes scored here: give 0 to "
            f"{scores.size(-1) - 1}, or {IGNORED} for what is not to be predicted."
        ) from None


class TiedDecoder(nn.Module):
    """A score for every word, [..., D] to [..., V]: the dot product with its own embedding, plus a bias for each word.

    The weight is the table of token embeddings itself (Press & Wolf 2017): one tensor under two names.
    """

    def __init__(self, token_embeddings: nn.Embedding):
        super().__init__()
        self.weight = token_embeddings.weight
        self.bias = nn.Parameter(torch.zeros(token_embeddings.num_embeddings))

    def forward(self, vectors: Tensor) -> Tensor:
        return linear(vectors, self.weight, self.bias)


class MaskedLMHead(nn.Module):
    """From a token's vector to a score for every word that could stand there: [..., D] to [..., V]."""

    def __init__(self, config: EncoderConfig, token_embeddings: nn.Embedding):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation(config.hidden_act)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.decoder = TiedDecoder(token_embeddings)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return self.decoder(self.norm(self.activation(self.dense(hidden_states))))


class BertForPreTraining(PretrainedModel):
    """BERT with both heads: masked words and next sentence. `bert` may be any member's encoder that has a pooler."""

    kind = "ForPreTraining"
    encoder_name = "bert"

    def __init__(self, config: EncoderConfig):
        super().__init__(config)
        member = architecture(config.model_type)
        self.bert = member.encoder(config)
        self.masked_lm = member.language_model_head(config, self.bert.token_embeddings)
        self.next_sentence = nn.Linear(config.hidden_size, 2)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        masked_positions: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> PreTrainingOutput:
        """labels [B, T]: the right id where one is to be predicted, -100 elsewhere; next_sentence_label [B]:
        0 when the second text follows the first, 1 when it does not. The loss is the sum of the two means
        (appendix A.2). Words are scored where there is a label only, or, without labels, at masked_positions
        (see `vectors_at`), as in Google's code: 85 % of that work saved. Labels that are all -100 give a loss
        of nan, the mean of no numbers, as in `transformers`.
        """
        bert = self.bert(input_ids, attention_mask, token_type_ids, output_attentions, output_hidden_states)
        if labels is not None:
            masked_positions = labels != IGNORED
        vectors, losses = bert.last_hidden_state, []
        if masked_positions is not None:
            vectors = vectors_at(vectors, masked_positions)  # [N, D]
        prediction_logits = self.masked_lm(vectors)
        if bert.pooler_output is None:
            raise UserError(
                f"a model of the type {self.config.model_type!r} has no pooler, from which two texts are judged: "
                "pre-train it on masked words alone."
            )
        seq_relationship_logits = self.next_sentence(bert.pooler_output)
        if labels is not None:
            losses.append(mean_cross_entropy(prediction_logits, labels[masked_positions]))
        if next_sentence_label is not None:
            losses.append(mean_cross_entropy(seq_relationship_logits, next_sentence_label))
        loss = torch.stack(losses).sum() if losses else None
        return PreTrainingOutput(prediction_logits, seq_relationship_logits, bert, loss)


class MaskedLM(PretrainedModel):
    """An encoder of any member with its language-model head: which word is masked?

    Of BERT it is called BertForMaskedLM, as in `transformers`.
    """

    kind = "ForMaskedLM"
    encoder_name = "encoder"

    def __init__(self, config: EncoderConfig):
        super().__init__(config)
        member = architecture(config.model_type)
        self.encoder = member.encoder(config, add_pooling_layer=False)
        self.masked_lm = member.language_model_head(config, self.encoder.token_embeddings)
        self.initialize()

    @property
    def bert(self) -> Backbone:
        """The encoder, as the same class in `transformers` calls it."""
        return self.encoder

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        masked_positions: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> PreTrainingOutput:
        """As BertForPreTraining, without the question for the next sentence."""
        output = self.encoder(input_ids, attention_mask, token_type_ids, output_attentions, output_hidden_states)
        if labels is not None:
            masked_positions = labels != IGNORED
        vectors = output.last_hidden_state
        if masked_positions is not None:
            vectors = vectors_at(vectors, masked_positions)  # [N, D]
        prediction_logits = self.masked_lm(vectors)
        loss = None if labels is None else mean_cross_entropy(prediction_logits, labels[labels != IGNORED])
        return PreTrainingOutput(prediction_logits, None, output, loss)


BertForMaskedLM = MaskedLM

ARCHITECTURE = Architecture(
    name="Bert",
    config=BertConfig,
    encoder=BertModel,
    language_model_head=MaskedLMHead,
    names=BERT,
    tokenizer=BertTokenizer,
    matching=matching_weights,
)
