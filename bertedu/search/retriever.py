"""What the three learned searches share: questions and passages are read apart, and what comes out is compared.

Shapes: Q questions, P passages, B batch, T tokens.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.model.evaluating import evaluating
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import Tokenizer

READ_AT_ONCE = 64  # texts


class Retriever(ABC):
    """How a text becomes what is compared, and how a question is compared with a passage.

    The model comes with each call: while it learns, the training loop may have wrapped it. temperature: what scores are
    divided by before the softmax of the loss; penalty_weights: the weight of each loss of `penalties`, by its name.
    """

    temperature: float = 1.0
    penalty_weights: MappingProxyType[str, float] = MappingProxyType({})

    @abstractmethod
    def represent(self, model: nn.Module, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Any:
        """What stands for each text of a batch, all [B, T]."""

    @abstractmethod
    def match(self, questions: Any, passages: Any) -> Tensor:
        """The score of every passage for every question, [Q, P], from what stands for them."""

    def penalties(self, questions: Any, passages: Any) -> dict[str, Tensor]:
        """What else is to be kept small in training, by name ending in "_loss": means over the texts of a batch."""
        return {}


def read_texts(
    retriever: Retriever, model: PretrainedModel, tokenizer: Tokenizer, texts: Sequence[str], max_length: int
) -> Iterator[Any]:
    """What stands for each text, READ_AT_ONCE of them at a time, without dropout or gradients, on the model's device.

    A longer text loses its end. Where the model has fewer positions than max_length, those are the limit.
    """
    with torch.no_grad(), evaluating(model) as device:
        for start in range(0, len(texts), READ_AT_ONCE):
            some = list(texts[start : start + READ_AT_ONCE])
            encoding = tokenizer(some, max_length=min(max_length, model.config.max_tokens))
            names = ("input_ids", "attention_mask", "token_type_ids")
            yield retriever.represent(model, *(encoding[name].to(device) for name in names))


def score_all(
    retriever: Retriever,
    model: PretrainedModel,
    tokenizer: Tokenizer,
    questions: Sequence[str],
    passages: Sequence[str],
    max_length: int = 128,
) -> Tensor:
    """The score of every passage for every question, [Q, P], on the CPU: each compared with each, without an index."""
    asked = list(read_texts(retriever, model, tokenizer, questions, max_length))
    columns = [
        torch.cat([retriever.match(one, some).float().cpu() for one in asked])
        for some in read_texts(retriever, model, tokenizer, passages, max_length)
    ]
    return torch.cat(columns, dim=1)
