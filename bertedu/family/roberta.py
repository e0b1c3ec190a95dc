"""RoBERTa: the same model as BERT, trained with a better recipe (Liu et al. 2019, arXiv 1907.11692).

The paper changes how BERT is trained: full sentences without the next-sentence task, masks drawn anew each time,
larger batches, ten times the text, a byte-level vocabulary (sections 3 and 4). The layers stay. What changes in the
weights comes from the authors' code, fairseq:

- Positions are counted from pad_token_id + 1, and padding has a position of its own.
- There is one segment: the separators alone tell the texts of a pair apart, <s> A </s></s> B </s>.
- LayerNorm's epsilon is 1e-5, and the language-model head has exact GELU whatever the layers have.
- Text classification reads <s> through a dense layer of its own: without the next-sentence task there is no pooler
  that was pre-trained.

Shapes: B batch, T tokens, D hidden size.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from bertedu.checkpoints.names import BERT, NameMap
from bertedu.config import BertConfig, EncoderConfig
from bertedu.errors import UserError
from bertedu.model.architecture import Architecture
from bertedu.model.bert import BertModel, matching_weights
from bertedu.model.embeddings import BertEmbeddings
from bertedu.model.heads import MaskedLMHead
from bertedu.tokenization import RobertaTokenizer


@dataclass(frozen=True)
class RobertaConfig(BertConfig):
    """The defaults are those of roberta-base as published. The class of `transformers` keeps three of BERT's instead
    (512 positions, 2 segments, epsilon 1e-12), and the config.json of every published model overrides them.
    """

    model_type: ClassVar[str] = "roberta"

    vocab_size: int = 50265
    max_position_embeddings: int = 514  # for 512 tokens: see RobertaEmbeddings
    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 1

    @classmethod
    def for_texts(cls, preset: str, tokens: int, **changes: Any) -> Self:
        """A preset for texts of so many tokens, whose positions are counted from pad_token_id + 1."""
        positions = tokens + changes.get("pad_token_id", cls.pad_token_id) + 1
        return super().for_texts(preset, tokens, **{"max_position_embeddings": positions, **changes})

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The fields of config.json; where it does not say, the defaults of `transformers`, which reads it so."""
        given = {name: value for name, value in values.items() if value is not None}
        return {"max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12, **given}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_tokens < 1:
            raise UserError(
                f"config: max_position_embeddings is {self.max_position_embeddings}, and positions are counted from "
                f"pad_token_id + 1, which is {self.pad_token_id + 1}: give more than that."
            )

    @property
    def max_tokens(self) -> int:
        """How many tokens a text may have, special tokens included: the positions up to pad_token_id are not for it."""
        return self.max_position_embeddings - self.pad_token_id - 1


class RobertaEmbeddings(BertEmbeddings):
    """BERT's, with positions that are counted over the tokens that are not padding."""

    def __init__(self, config: RobertaConfig):
        super().__init__(config)
        # The position of padding is as little learned as its vector: padding_idx keeps its gradient at 0.
        self.position = nn.Embedding(
            config.max_position_embeddings, config.hidden_size, padding_idx=config.pad_token_id
        )
        self.pad_token_id, self.max_tokens = config.pad_token_id, config.max_tokens

    def segment_vectors(self, token_type_ids: Tensor) -> Tensor:
        """The vector of each token's segment, [B, T, D]. Where there is one segment, token_type_ids mean nothing: a
        tokenizer that marks the second text does no harm.
        """
        one = self.token_type.num_embeddings == 1
        return super().segment_vectors(torch.zeros_like(token_type_ids) if one else token_type_ids)

    def position_vectors(self, input_ids: Tensor) -> Tensor:
        """The vectors of each text's own positions, [B, T, D]. They are read off the ids, not off the attention mask:
        padding may stand left or right, and an id of padding inside a text is not counted either.
        """
        real = input_ids.ne(self.pad_token_id)  # [B, T]
        if real.size(1) > self.max_tokens:  # only then may one be too long; asking would make a GPU wait
            self.check_length(int(real.sum(dim=1).max()), self.max_tokens)
        # The first token stands at pad_token_id + 1: with padding 1, 512 tokens need 514 rows, and row 0 is unused.
        return self.position(real.cumsum(dim=1) * real + self.pad_token_id)


class RobertaModel(BertModel):
    """RoBERTa without a head: BERT's layers and pooler on its own embeddings."""

    embeddings_class = RobertaEmbeddings


class RobertaLMHead(MaskedLMHead):
    """BERT's, with exact GELU also where hidden_act names the tanh form for the layers."""

    def __init__(self, config: EncoderConfig, token_embeddings: nn.Embedding):
        super().__init__(config, token_embeddings)
        self.activation = nn.GELU()


class RobertaClassificationTransform(nn.Module):
    """What stands before the last linear layer of text classification: <s> through dropout, dense and tanh, [B, T, D]
    to [B, D]. BERT's pooler has the same form, but was pre-trained on the next sentence; this one starts new.
    """

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return torch.tanh(self.dense(self.dropout(hidden_states[:, 0])))


# BERT's encoder under "roberta."; the heads have names of their own.
NAMES = NameMap(
    rows=(
        *(row for row in BERT.rows if row[0].startswith(("embeddings.", "encoder."))),
        ("masked_lm.dense.", "lm_head.dense."),
        ("masked_lm.norm.", "lm_head.layer_norm."),
        ("masked_lm.decoder.bias", "lm_head.bias"),
        ("masked_lm.decoder.", "lm_head.decoder."),
    ),
    prefix="roberta",
    tied=BERT.tied,
    dropped=BERT.dropped,
    heads={
        "ForSequenceClassification": (
            ("transform.dense.", "classifier.dense."),
            ("classifier.", "classifier.out_proj."),
        )
    },
)

ARCHITECTURE = Architecture(
    name="Roberta",
    config=RobertaConfig,
    encoder=RobertaModel,
    language_model_head=RobertaLMHead,
    names=NAMES,
    tokenizer=RobertaTokenizer,
    transforms={"ForSequenceClassification": RobertaClassificationTransform},
    matching=matching_weights,
)
