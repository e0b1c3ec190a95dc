"""SPLADE: a weight for each word of the vocabulary, also for words that the text does not hold.

Formal et al. 2021 (SPLADE v2, section 3); the regulariser is that of Paria et al. 2020.
Shapes: B batch, T tokens, V vocabulary, Q questions, P passages.
"""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor, nn

from bertedu.model.heads import MaskedLM
from bertedu.search.hits import Hits, best_hits, check_k, check_search
from bertedu.search.retriever import Retriever, read_texts
from bertedu.tokenization import Tokenizer


def term_weights(logits: Tensor, attention_mask: Tensor) -> Tensor:
    """How much each word of the vocabulary says about each text, [B, V], from the masked-word logits [B, T, V].

    A word's weight at a token is log(1 + ReLU(logit)): never negative, and large logits count for little more. Its
    weight in the text is the highest of its tokens; padding has no part, and weighs 0.
    """
    weights = torch.log1p(torch.relu(logits))
    return weights.masked_fill(~attention_mask.bool().unsqueeze(-1), 0.0).amax(dim=1)


def flops(weights: Tensor) -> Tensor:
    """The regulariser of term weights [B, V]: the sum over words of their squared mean weight in the batch.

    It stands for the multiplications that a search costs: two texts meet in a word if both have it. One word that all
    texts have costs more than many words that one text each has; an L1 norm would not see the difference.
    """
    return weights.mean(dim=0).square().sum()


class SparseRetriever(Retriever):
    """Term weights [B, V]; scores are their products.

    question_weight and passage_weight: those of the two FLOPS losses. Higher ones leave fewer words with a weight.
    """

    def __init__(self, question_weight: float = 3e-3, passage_weight: float = 1e-3):
        weights = {"question_flops_loss": question_weight, "passage_flops_loss": passage_weight}
        self.penalty_weights = MappingProxyType(weights)

    def represent(self, model: nn.Module, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """The term weights of a batch of texts, [B, V]."""
        logits = model(input_ids, attention_mask, token_type_ids).prediction_logits
        return term_weights(logits, attention_mask).float()

    def match(self, questions: Tensor, passages: Tensor) -> Tensor:
        """The products of all questions with all passages, [Q, P]."""
        return questions @ passages.T

    def penalties(self, questions: Tensor, passages: Tensor) -> dict[str, Tensor]:
        """The FLOPS of both sides."""
        return {"question_flops_loss": flops(questions), "passage_flops_loss": flops(passages)}


class SparseSearch:
    """An inverted index: for each word the passages in which it weighs anything. `transposed` is [V, P], by word."""

    def __init__(self, model: MaskedLM, tokenizer: Tokenizer, passages: Sequence[str]):
        check_search(passages)
        self.model, self.tokenizer, self.retriever = model, tokenizer, SparseRetriever()
        weights = self.read(passages)
        self.words_a_passage = weights.nnz / len(passages)
        self.transposed = weights.T.tocsr()

    def read(self, texts: Sequence[str]) -> csr_array:
        """The term weights of some texts, [N, V], without the zeros."""
        parts = read_texts(self.retriever, self.model, self.tokenizer, texts, self.model.config.max_tokens)
        return vstack([csr_array(part.cpu().numpy()) for part in parts]).tocsr()

    def search(self, questions: Sequence[str], k: int = 10) -> list[Hits]:
        """At most k passages with the highest products for each question, best first; those without a word in common
        are no hits.
        """
        check_k(k)
        hits: list[Hits] = []
        for question in questions:
            scores = np.asarray((self.read([question]) @ self.transposed).todense())  # [1, P]
            hits.append([(number, score) for number, score in best_hits(scores, k)[0] if score > 0])
        return hits

    def words(self, text: str, top: int = 10) -> list[tuple[str, float]]:
        """The words that weigh most in a text, and their weights."""
        weights = self.read([text]).toarray()[0]
        best = [int(number) for number in np.argsort(-weights, kind="stable")[:top] if weights[number] > 0]
        return list(zip(self.tokenizer.convert_ids_to_tokens(best), weights[best].tolist(), strict=True))
