"""Reranking: something expensive puts the best hits of a cheaper search in a better order.

Here a cross-encoder, which reads question and passage together (Nogueira & Cho 2019), or late interaction (Khattab &
Zaharia 2020, section 4). The cross-encoder's loss, a softmax over the right passage and the hard negatives, is that of
Gao et al. 2021; its network is that of multiple choice: one score for each pair. Shapes: C passages.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch

from bertedu.corpora.readers import Choices
from bertedu.errors import UserError
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel, MultipleChoiceTask
from bertedu.model.evaluating import evaluating
from bertedu.search.collection import Asked
from bertedu.search.hits import Hits, Search, check_k
from bertedu.search.late_interaction import LateSearch
from bertedu.search.measures import mrr_at
from bertedu.tokenization import Tokenizer

PAIRS_AT_ONCE = 64
SHARES = tuple(number / 10 for number in range(11))  # that `fitted_share` tries


def reranking_task(
    train: Sequence[Asked],
    validation: Sequence[Asked],
    passages: Sequence[str],
    tokenizer: Tokenizer,
    settings: FinetuningSettings,
) -> MultipleChoiceTask:
    """The task of a reranker: which of a few passages answers the question? The others are hard negatives, as the first
    search will bring them. Raises UserError for rows without negatives.
    """
    if not all(row.negatives for row in [*train, *validation]):
        raise UserError("a reranker learns from hard negatives: add them by with_hard_negatives.")
    learned, validated = (
        [Choices(row.question, tuple(passages[number] for number in (row.passage, *row.negatives)), 0) for row in part]
        for part in (train, validation)
    )
    return MultipleChoiceTask(learned, validated, tokenizer, settings)


def standardized(scores: Sequence[float]) -> np.ndarray:
    """Scores [C] with mean 0 and standard deviation 1; all 0 where they are equal. So scores of different searches,
    such as BM25's and a cosine, can be added.
    """
    values = np.asarray(scores, dtype=float)
    centred = values - values.mean() if values.size else values
    deviation = values.std() if values.size else 0.0
    return centred / deviation if deviation > 1e-9 else np.zeros_like(centred)


class Reranking(ABC):
    """A search, and something that orders its first `depth` hits anew. What the search misses stays missed.

    share: how much the new score counts. 1 is the new score alone; below 1 each question's new and old scores are
    standardized and added, share × new + (1 - share) × old, and 0 leaves the first search's order.
    """

    def __init__(self, first: Search, depth: int = 20, share: float = 1.0):
        if depth < 1:
            raise UserError(f"depth is {depth}: rerank 1 hit or more.")
        if not 0 <= share <= 1:
            raise UserError(f"share is {share}: give a number from 0 (the first search's scores) to 1 (the new ones).")
        self.first, self.depth, self.share = first, depth, share

    @abstractmethod
    def scores(self, question: str, numbers: Sequence[int]) -> list[float]:
        """The new scores of some passages for a question, [C]."""

    def search(self, questions: Sequence[str], k: int = 10) -> list[Hits]:
        """The k best of the first search's hits for each question, best first."""
        check_k(k)
        found = self.first.search(questions, self.depth)
        return [self.reranked(question, hits)[:k] for question, hits in zip(questions, found, strict=True)]

    def reranked(self, question: str, hits: Hits) -> Hits:
        """The hits in the order of their new scores; of equal ones, that of the first search."""
        return ordered(hits, self.scores(question, [number for number, _ in hits]), self.share)


def ordered(hits: Hits, scores: Sequence[float], share: float) -> Hits:
    """Hits with new scores [C] mixed in, best first; of equal ones, the one that stood first."""
    if share < 1:
        old = [score for _, score in hits]
        scores = (share * standardized(scores) + (1 - share) * standardized(old)).tolist()
    new = zip((number for number, _ in hits), scores, strict=True)
    return sorted(new, key=lambda hit: -hit[1])


class RerankedSearch(Reranking):
    """A search whose first hits a cross-encoder orders anew."""

    def __init__(
        self,
        first: Search,
        model: ChoiceModel,
        tokenizer: Tokenizer,
        passages: Sequence[str],
        depth: int = 20,
        share: float = 1.0,
    ):
        super().__init__(first, depth, share)
        self.model, self.tokenizer, self.passages = model, tokenizer, passages

    def scores(self, question: str, numbers: Sequence[int]) -> list[float]:
        """The cross-encoder's scores of some passages, [C]."""
        scores: list[float] = []
        with torch.no_grad(), evaluating(self.model) as device:
            for start in range(0, len(numbers), PAIRS_AT_ONCE):
                texts = [self.passages[number] for number in numbers[start : start + PAIRS_AT_ONCE]]
                pairs = self.tokenizer([question] * len(texts), texts, max_length=self.model.config.max_tokens)
                batch = {name: pairs[name].unsqueeze(0).to(device) for name in pairs}  # [1, C, T]
                scores += self.model(**batch).logits[0].float().cpu().tolist()  # [C]
        return scores


class LateReranking(Reranking):
    """A search whose first hits late interaction orders anew: the passages' vectors are there already, and only the
    question is read.
    """

    def __init__(self, first: Search, late: LateSearch, depth: int = 20, share: float = 1.0):
        super().__init__(first, depth, share)
        self.late = late

    def scores(self, question: str, numbers: Sequence[int]) -> list[float]:
        """The sums of best cosines of some passages, [C]."""
        return self.late.scores(question, numbers)


def fitted_share(search: Reranking, asked: Sequence[Asked]) -> float:
    """The share of the new score with the highest MRR@10 on some questions, in steps of a tenth.

    The questions must be others than those that a model learned from (its scores are too good there), and others than
    those that the search is measured on. Of equal shares the smallest: the first search costs nothing more.
    """
    found = search.first.search([row.question for row in asked], search.depth)
    scores = [search.scores(row.question, [n for n, _ in hits]) for row, hits in zip(asked, found, strict=True)]
    right = [{row.passage} for row in asked]

    def quality(share: float) -> float:
        return mrr_at([ordered(*one, share) for one in zip(found, scores, strict=True)], right, 10)

    return max(SHARES, key=quality)
