"""Late interaction: one vector for each token, and a question's token looks for its best partner in the passage.

ColBERT (Khattab & Zaharia 2020, section 3). Left out here: the markers [Q] and [D], the [MASK] tokens that lengthen
questions, and that marks of the passages are dropped.
Shapes: Q questions, P passages, T tokens of a question, S tokens of a passage, d size of a token's vector.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from bertedu.config import TaskConfig
from bertedu.finetuning.head import TaskModel
from bertedu.model.architecture import Backbone
from bertedu.search.hits import Hits, best_hits, check_k, check_search
from bertedu.search.retriever import Retriever, read_texts
from bertedu.tokenization import Tokenizer

SIZE = 64  # d; the paper takes 128, of vectors of 768


class TokenVectors(NamedTuple):
    """Vectors of length 1 for the tokens of some texts, [N, T, d], and which are real, [N, T] of booleans."""

    vectors: Tensor
    real: Tensor


class LateInteraction(TaskModel):
    """An encoder and a linear layer that makes its vectors smaller: there are many to be kept for each passage."""

    kind = "LateInteraction"

    def __init__(self, encoder: Backbone, task_config: TaskConfig | None = None):
        super().__init__(encoder, task_config)
        self.projection = nn.Linear(self.config.hidden_size, SIZE, bias=False)
        self.initialize()

    @classmethod
    def wants_transform(cls, task_config: TaskConfig) -> bool:
        """The projection reads the encoder's last layer itself."""
        return False

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """The vectors of a batch's tokens, [B, T, d], each of length 1."""
        hidden_states = self.token_vectors(input_ids, attention_mask, token_type_ids)
        return normalize(self.projection(hidden_states).float(), dim=-1)


def max_sim(questions: TokenVectors, passages: TokenVectors) -> Tensor:
    """For each token of a question its highest cosine with a token of the passage, summed: [Q, P].

    Padding of a passage is nobody's best partner, and padding of a question looks for none.
    """
    cosines = torch.einsum("qtd,psd->qpts", questions.vectors, passages.vectors)  # [Q, P, T, S]
    cosines = cosines.masked_fill(~passages.real[None, :, None, :], -torch.inf)
    best = cosines.amax(dim=-1)  # [Q, P, T]
    return best.masked_fill(~questions.real[:, None, :], 0.0).sum(dim=-1)


class LateRetriever(Retriever):
    """A vector for each token; scores are sums of best cosines."""

    temperature = 0.5

    def represent(
        self, model: nn.Module, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> TokenVectors:
        """The vectors of a batch's tokens."""
        return TokenVectors(model(input_ids, attention_mask, token_type_ids), attention_mask.bool())

    def match(self, questions: TokenVectors, passages: TokenVectors) -> Tensor:
        """The sum of best cosines for each question and passage, [Q, P]."""
        return max_sim(questions, passages)


class LateSearch:
    """The vectors of all real tokens of some passages, one after the other: S numbers of size d for each passage, where
    the bi-encoder keeps one vector.

    Every passage is compared; ColBERT itself compares only those that an index of all token vectors brings up.
    """

    def __init__(self, model: LateInteraction, tokenizer: Tokenizer, passages: Sequence[str]):
        check_search(passages)
        self.model, self.tokenizer = model, tokenizer
        read = [part for passage in self.read(passages) for part in passage]
        self.tokens = torch.cat(read)  # [all tokens, d]
        lengths = [len(part) for part in read]
        self.starts = np.cumsum([0, *lengths[:-1]])  # where each passage begins
        self.ends = np.cumsum(lengths)

    def read(self, texts: Sequence[str]) -> Iterator[list[Tensor]]:
        """The vectors of the real tokens of each text, [S, d], some texts at a time."""
        for part in read_texts(LateRetriever(), self.model, self.tokenizer, texts, self.model.config.max_tokens):
            yield [vectors[real].cpu() for vectors, real in zip(*part, strict=True)]

    def search(self, questions: Sequence[str], k: int = 10) -> list[Hits]:
        """The k passages with the highest sums for each question, best first."""
        check_k(k)
        hits: list[Hits] = []
        for asked in (vectors for part in self.read(questions) for vectors in part):
            cosines = (asked @ self.tokens.T).numpy()  # [T, all tokens]
            best = np.maximum.reduceat(cosines, self.starts, axis=1)  # [T, P]: from one start to the next
            hits += best_hits(best.sum(axis=0, keepdims=True), k)
        return hits

    def scores(self, question: str, numbers: Sequence[int]) -> list[float]:
        """The sums of best cosines of some passages for one question, in the order of their numbers given here."""
        ((asked,),) = self.read([question])
        parts = [self.tokens[self.starts[number] : self.ends[number]] for number in numbers]
        return [float((asked @ part.T).amax(dim=1).sum()) for part in parts]
