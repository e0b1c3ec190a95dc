"""The bi-encoder as a search: one vector for each text, compared by the cosine.

Reimers & Gurevych 2019; Karpukhin et al. 2020. The encoder is `SentenceEncoder` of notebook 13.
Shapes: Q questions, P passages, D hidden size.
"""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn.functional import normalize

from bertedu.finetuning.tasks.similarity import SentenceEncoder, embed
from bertedu.search.hits import Hits, check_search
from bertedu.search.index import FAISS_FROM, VectorIndex
from bertedu.search.retriever import Retriever
from bertedu.tokenization import Tokenizer


class DenseRetriever(Retriever):
    """A vector of length 1 for each text, [B, D]; scores are cosines."""

    temperature = 0.05  # a cosine reaches from -1 to 1: undivided, no passage could have a probability near 1

    def represent(self, model: nn.Module, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """The vectors of a batch of texts, [B, D]."""
        return normalize(model(input_ids, attention_mask, token_type_ids).float(), dim=-1)

    def match(self, questions: Tensor, passages: Tensor) -> Tensor:
        """The cosine of each question with each passage, [Q, P]."""
        return questions @ passages.T


class DenseSearch:
    """The vectors of some passages in an index, and the encoder for questions."""

    def __init__(
        self, model: SentenceEncoder, tokenizer: Tokenizer, passages: Sequence[str], faiss_from: int = FAISS_FROM
    ):
        check_search(passages)
        self.model, self.tokenizer = model, tokenizer
        self.index = VectorIndex(embed(model, tokenizer, passages), faiss_from)

    def search(self, questions: Sequence[str], k: int = 10) -> list[Hits]:
        """The k passages nearest to each question, with their cosines, best first."""
        return self.index.search(embed(self.model, self.tokenizer, questions), k)
