"""Reranking: a cross-encoder reads question and passage together, and puts the best of a cheaper search in order.

Nogueira & Cho 2019; the loss, a softmax over the right passage and the hard negatives, is that of Gao et al. 2021.
The network is that of multiple choice: one score for each pair of question and passage. Shapes: C passages.
"""

from collections.abc import Sequence

import torch

from bertedu.corpora.readers import Choices
from bertedu.errors import UserError
from bertedu.finetuning.multiple_choice import ChoiceModel, MultipleChoiceTask
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.model.evaluating import evaluating
from bertedu.search.collection import Asked
from bertedu.search.hits import Hits, Search, check_k
from bertedu.tokenization import Tokenizer

PAIRS_AT_ONCE = 64


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


class RerankedSearch:
    """A search, and a cross-encoder that orders its first `depth` hits anew. What the search misses stays missed."""

    def __init__(
        self, first: Search, model: ChoiceModel, tokenizer: Tokenizer, passages: Sequence[str], depth: int = 20
    ):
        if depth < 1:
            raise UserError(f"depth is {depth}: rerank 1 hit or more.")
        self.first, self.model, self.passages, self.depth = first, model, passages, depth
        self.tokenizer = tokenizer

    def search(self, questions: Sequence[str], k: int = 10) -> list[Hits]:
        """The k best of the first search's hits for each question, by the cross-encoder's scores, best first."""
        check_k(k)
        found = self.first.search(questions, self.depth)
        return [self.reranked(question, hits)[:k] for question, hits in zip(questions, found, strict=True)]

    def reranked(self, question: str, hits: Hits) -> Hits:
        """The hits in the order of the cross-encoder's scores; of equal ones, that of the first search."""
        numbers = [number for number, _ in hits]
        scores: list[float] = []
        with torch.no_grad(), evaluating(self.model) as device:
            for start in range(0, len(numbers), PAIRS_AT_ONCE):
                texts = [self.passages[number] for number in numbers[start : start + PAIRS_AT_ONCE]]
                pairs = self.tokenizer([question] * len(texts), texts, max_length=self.model.config.max_tokens)
                batch = {name: pairs[name].unsqueeze(0).to(device) for name in pairs}  # [1, C, T]
                scores += self.model(**batch).logits[0].float().cpu().tolist()  # [C]
        return sorted(zip(numbers, scores, strict=True), key=lambda hit: -hit[1])
