"""Late interaction: one vector for each token, and a question's token looks for its best partner in the passage.

ColBERT (Khattab & Zaharia 2020, section 3). Left out here: the markers [Q] and [D], the [MASK] tokens that lengthen
questions, and that marks of the passages are dropped.
Shapes: Q questions, P passages, T tokens of a question, S tokens of a passage, d size of a token's vector.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from bertedu.config import TaskConfig
from bertedu.finetuning.head import TaskModel
from bertedu.model.architecture import Encoder
from bertedu.search.hits import Hits, best_hits, check_k, check_search
from bertedu.search.retriever import Retriever, read_texts
from bertedu.tokenization import Tokenizer

SIZE = 64  # d; the paper takes 128, of vectors of 768
PASSAGES_AT_ONCE = 256


class TokenVectors(NamedTuple):
    """Vectors of length 1 for the tokens of some texts, [N, T, d], and which are real, [N, T] of booleans."""

    vectors: Tensor
    real: Tensor


class LateInteraction(TaskModel):
    """An encoder and a linear layer that makes its vectors smaller: there are many to be kept for each passage."""

    kind = "LateInteraction"

    def __init__(self, encoder: Encoder, task_config: TaskConfig | None = None):
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
    """The token vectors of some passages: P · S · d numbers, where the bi-encoder keeps P · D.

    Every passage is compared; ColBERT itself compares only those that an index of all token vectors brings up.
    """

    def __init__(self, model: LateInteraction, tokenizer: Tokenizer, passages: Sequence[str]):
        check_search(passages)
        self.model, self.tokenizer, self.retriever = model, tokenizer, LateRetriever()
        parts = list(read_texts(self.retriever, model, tokenizer, passages, model.config.max_tokens))
        longest = max(part.real.size(1) for part in parts)
        self.passages = TokenVectors(
            torch.cat([pad(part.vectors.cpu(), (0, 0, 0, longest - part.real.size(1))) for part in parts]),
            torch.cat([pad(part.real.cpu(), (0, longest - part.real.size(1))) for part in parts]),
        )

    def search(self, questions: Sequence[str], k: int = 10) -> list[Hits]:
        """The k passages with the highest sums for each question, best first."""
        check_k(k)
        hits: list[Hits] = []
        for question in questions:
            (asked,) = read_texts(self.retriever, self.model, self.tokenizer, [question], self.model.config.max_tokens)
            asked = TokenVectors(*(part.cpu() for part in asked))
            blocks = zip(*(part.split(PASSAGES_AT_ONCE) for part in self.passages), strict=True)
            hits += best_hits(torch.cat([max_sim(asked, TokenVectors(*block)) for block in blocks], 1).numpy(), k)
        return hits
