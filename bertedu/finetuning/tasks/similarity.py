"""How alike two texts are, by one vector for each: a siamese bi-encoder, and search with it. Notebook 13.

Reimers & Gurevych 2019 (Sentence-BERT, section 3): mean pooling, cosine, and the squared error for scores.
Shapes: B batch, T tokens, D hidden size, N texts.
"""

from collections.abc import Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, mse_loss, normalize

from bertedu.corpora.readers import LabelledText
from bertedu.corpora.task_data import read_labelled
from bertedu.errors import UserError
from bertedu.finetuning.bags import bag_cosines
from bertedu.finetuning.examples import Example, encode_text
from bertedu.finetuning.explaining import asked, score_said
from bertedu.finetuning.labels import score_figures
from bertedu.finetuning.pooling import PooledModel
from bertedu.finetuning.scores import Scored
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.task import VECTORS, Batch, FinetuningTask
from bertedu.model.evaluating import evaluating
from bertedu.tokenization import Tokenizer
from bertedu.training.figures import Figures

HELP = """
similarity: a vector for each text, and their cosine as the score
    sentence1,sentence2,score
    bertedu finetune similarity --data data/tasks/similarity
"""
PAIR = "pair_"  # before the names of the second text's numbers
EMBEDDING_BATCH = 64


class SentenceEncoder(PooledModel):
    """An encoder and one vector for each text, by `task_config.pooling`. A saved folder opens as a bare encoder in
    `transformers`.
    """

    kind = "SentenceEncoder"

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """The vectors of a batch of texts, [B, D]; not normalized."""
        return self.pooled(input_ids, attention_mask, token_type_ids)


BertSentenceEncoder = SentenceEncoder


class SimilarityTask(Scored, FinetuningTask[LabelledText]):
    """Learning that the cosine of two texts' vectors is their score. scale: the scores that mean 0 and 1."""

    best_by = "spearman"
    networks = (SentenceEncoder,)
    defaults = MappingProxyType({"pooling": "mean"})
    options = ("pooling",)
    use = VECTORS
    about_scale = ", scores taken from 0 to 1"

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[LabelledText] = ()) -> list[LabelledText]:
        """Pairs of texts with scores."""
        rows = read_labelled(path, problem_type="regression", split=split, scale=scale_of(train) if train else None)
        if any(row.pair is None for row in rows):
            raise UserError(f"{path}: a row holds one text: similarity needs two, in columns sentence1 and sentence2.")
        return rows

    @classmethod
    def make(cls, train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):  # type: ignore
        """A bi-encoder; the scale runs from the lowest to the highest score in the data."""
        network = with_new_head(SentenceEncoder, model, settings, pooling=settings.pooling)
        return network, cls(train, validation, tokenizer, settings, scale_of([*train, *validation]))

    @classmethod
    def baselines(cls, train: Sequence[LabelledText], test: Sequence[LabelledText]) -> Figures:
        """Counting words."""
        return word_cosines(train, test)

    def __init__(
        self,
        train: Sequence[LabelledText],
        validation: Sequence[LabelledText],
        tokenizer: Tokenizer,
        settings: FinetuningSettings,
        scale: tuple[float, float] = (0.0, 5.0),
    ):
        if not scale[0] < scale[1]:
            raise UserError(f"scale is {scale}: give the lowest and the highest score, such as (0, 5).")
        self.scale = scale
        super().__init__(train, validation, tokenizer, settings)

    def target(self, row: LabelledText) -> float:
        """The score of a pair, from 0 to 1. Raises UserError for a row without a pair or a score beyond the scale."""
        if row.pair is None:
            raise UserError(f"{row.text[:40]!r} has no second text: similarity needs pairs.")
        low, high = self.scale
        if isinstance(row.label, tuple) or not low <= float(row.label) <= high:
            raise UserError(f"the score of {row.text[:40]!r} is {row.label!r}: give a number from {low} to {high}.")
        return (float(row.label) - low) / (high - low)

    def encode(self, rows: Sequence[LabelledText]) -> list[Example]:
        """Both texts of each pair on their own, and the score."""
        examples = []
        for row in rows:
            target = self.target(row)
            first, second = (
                encode_text(self.tokenizer, text, None, self.settings.max_length) for text in (row.text, row.pair or "")
            )
            examples.append({**first, **{PAIR + name: ids for name, ids in second.items()}, "scores": target})
        return examples

    def counts(self, batch: Batch) -> dict[str, int]:
        """Pairs."""
        return {"pair": len(batch["scores"])}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed squared error of the cosines."""
        return {"pair_loss": mse_loss(cosines(model, batch), batch["scores"].float(), reduction="sum")}

    def read(self, model: nn.Module, batch: Batch) -> list[float]:
        """The cosine of each pair."""
        return cosines(model, batch).cpu().tolist()

    def predictions(self, model: nn.Module, rows: Sequence[LabelledText]) -> list[float]:
        """The cosine of each pair."""
        return self.outputs(model, self.encode(rows))

    def figures(self, rows: Sequence[LabelledText], predictions: Sequence[float]) -> dict[str, float]:
        """Pearson's and Spearman's correlation of cosines and scores, and the mean squared error."""
        return score_figures(np.array(predictions), np.array([self.target(row) for row in rows]))

    def explain(self, rows: Sequence[LabelledText], predictions: Sequence[float]) -> list[dict[str, Any]]:
        """Both texts, and the score that the cosine stands for beside the right one, on the scale of the data."""
        low, high = self.scale
        return [
            {**asked(row), **score_said(float(row.label), low + cosine * (high - low))}  # type: ignore[arg-type]
            for row, cosine in zip(rows, predictions, strict=True)
        ]


def scale_of(rows: Sequence[LabelledText]) -> tuple[float, float]:
    """The scores that mean "nothing in common" (0, or the lowest) and "the same" (the highest) in some rows."""
    scores = [float(row.label) for row in rows]  # type: ignore[arg-type]
    return min(0.0, *scores), max(scores)


def cosines(model: nn.Module, batch: Batch) -> Tensor:
    """The cosine of the vectors of each pair in a batch, [B]."""
    names = ("input_ids", "attention_mask", "token_type_ids")
    first, second = (model(*(batch[start + name] for name in names)).float() for start in ("", PAIR))
    return cosine_similarity(first, second)


def embed(model: SentenceEncoder, tokenizer: Tokenizer, texts: Sequence[str]) -> Tensor:
    """One vector of length 1 for each text, [N, D], on the CPU: their products are cosines."""
    vectors = []
    with torch.no_grad(), evaluating(model) as device:
        for start in range(0, len(texts), EMBEDDING_BATCH):
            batch = texts[start : start + EMBEDDING_BATCH]
            encoding = tokenizer(batch, max_length=model.config.max_tokens)
            rows = [encoding[name].to(device) for name in ("input_ids", "attention_mask", "token_type_ids")]
            vectors.append(normalize(model(*rows).float(), dim=-1).cpu())
    return torch.cat(vectors)


def search(vectors: Tensor, query: Tensor, k: int = 5) -> list[tuple[int, float]]:
    """The numbers and cosines of the k texts nearest to a query [D], best first. All vectors have length 1."""
    best = (vectors @ query).topk(min(k, len(vectors)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def word_cosines(train: Sequence[LabelledText], test: Sequence[LabelledText]) -> dict[str, dict[str, float]]:
    """The figures of the cosine of bags of words, weighted by how rare a word is in the training texts."""
    known = list(chain.from_iterable((row.text, row.pair or "") for row in train))
    alike = bag_cosines([(row.text, row.pair or "") for row in test], known)
    scores = np.array([float(row.label) for row in test])  # type: ignore[arg-type]
    figures = score_figures(alike, scores)
    del figures["mean_squared_error"]  # of another scale
    return {"cosine of bags of words": figures}


TASK = SimilarityTask
