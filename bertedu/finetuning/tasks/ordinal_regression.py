"""A rating for a text, such as one to five stars: classes that have an order. Reviews, grades, degrees of illness.

The cumulative model (McCullagh 1980, "Regression models for ordinal data"): one score for the text, and thresholds that
rise; the probability that the rating is above threshold k is σ(score - threshold k). Quadratic weighted kappa: Cohen
1968. Shapes: B batch, T tokens, D hidden size, C ratings.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, logsigmoid, softplus

from bertedu.config import TaskConfig
from bertedu.corpora.readers import LabelledText
from bertedu.corpora.task_data import read_labelled
from bertedu.errors import UserError
from bertedu.finetuning.bags import bags_of_words
from bertedu.finetuning.classification import ClassifierOutput
from bertedu.finetuning.examples import Example, encode_text
from bertedu.finetuning.explaining import asked, labelled, mistake, rounded
from bertedu.finetuning.pooling import PooledModel, pooled_size
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.task import Batch, FinetuningTask, Pictures
from bertedu.model.architecture import Backbone
from bertedu.tokenization import Tokenizer
from bertedu.training.figures import Figures, Measure

HELP = """
ordinal-regression: a rating, a whole number such as 1 to 5: near the right one is better than far from it
    text,score
    The room was cold.,2
    bertedu finetune ordinal-regression --data data/tasks/ratings
"""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
START = 1.0  # between two thresholds


class RatingModel(PooledModel):
    """An encoder, a vector for the text, one score, and thresholds between the ratings `task_config.labels`."""

    kind = "ForOrdinalRegression"

    def __init__(self, encoder: Backbone, task_config: TaskConfig):
        super().__init__(encoder, task_config)
        steps = len(task_config.labels) - 1
        if steps < 1:
            raise UserError('there are no ratings: give them from the lowest to the highest, labels=("1", "2", "3").')
        self.dropout = nn.Dropout(self.config.head_dropout_prob)
        self.classifier = nn.Linear(pooled_size(self.config.hidden_size, task_config.pooling), 1)
        self.lowest = nn.Parameter(torch.tensor([-START * (steps - 1) / 2]))  # [1]: FSDP shares out no scalars
        self.gaps = nn.Parameter(torch.full((steps - 1,), START).expm1().log())  # softplus makes START of it
        self.initialize()

    def thresholds(self) -> Tensor:
        """The thresholds between neighbouring ratings, each above the one before, [C - 1]."""
        return torch.cat([self.lowest, self.lowest + softplus(self.gaps).cumsum(dim=0)])

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> ClassifierOutput:
        """logits [B, C] are log-probabilities; labels [B] are the numbers of the ratings, from 0."""
        score = self.classifier(self.dropout(self.pooled(input_ids, attention_mask, token_type_ids))).float()  # [B, 1]
        logits = log_probabilities(score, self.thresholds())
        if labels is None:
            return ClassifierOutput(logits)
        return ClassifierOutput(logits, summed_loss=cross_entropy(logits, labels, reduction="sum"), counted=len(labels))


def log_probabilities(score: Tensor, thresholds: Tensor) -> Tensor:
    """The log-probability of each rating, [B, C], from a score [B, 1] and the rising thresholds [C - 1].

    σ(a) - σ(b) = σ(a) σ(-b) (1 - e^(b - a)): so no logarithm of a difference of two nearly equal numbers is taken.
    """
    above = score - thresholds  # [B, C - 1]
    ends = logsigmoid(-above[:, :1]), logsigmoid(above[:, -1:])
    between = logsigmoid(above[:, :-1]) + logsigmoid(-above[:, 1:])
    between = between + torch.log(-torch.expm1(thresholds[:-1] - thresholds[1:]))
    return torch.cat([ends[0], between, ends[1]], dim=1)


class OrdinalRegressionTask(FinetuningTask[LabelledText]):
    """Learning ratings from the lowest to the highest. What is predicted is the median of the model's probabilities:
    no other rating is nearer to the right one in the mean.
    """

    best_by = "quadratic_weighted_kappa"
    networks = (RatingModel,)
    defaults = MappingProxyType({"pooling": "mean"})  # not every member has a pooler
    options = ("pooling",)
    measures = MappingProxyType(
        {
            "quadratic_weighted_kappa": Measure("quadratic weighted kappa", form=".3f"),
            "mean_absolute_distance": Measure("mean absolute distance", True, ".3f"),
        }
    )
    row_types = MappingProxyType({"text": str, "label": int, "prediction": int, "probability": float, "mistake": float})
    in_words = staticmethod(labelled)  # type: ignore[assignment]

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[LabelledText] = ()) -> list[LabelledText]:
        """Texts or pairs with whole numbers, of which there must be two."""
        known = [rating(row) for row in train]
        rows = read_labelled(
            path, problem_type="regression", split=split, scale=(min(known), max(known)) if known else None
        )
        for row in rows:
            if row.label != rating(row):
                raise UserError(f"{path}: the rating of {row.text[:40]!r} is {row.label}: give a whole number.")
        if not train and len({row.label for row in rows}) < 2:
            raise UserError(f"{path}: all ratings are the same, so that there is nothing to learn: add other rows.")
        return rows

    @classmethod
    def make(cls, train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):  # type: ignore
        """A model of all ratings from the lowest to the highest in the data."""
        known = [rating(row) for row in (*train, *validation)]
        labels = tuple(str(one) for one in range(min(known), max(known) + 1))
        network = with_new_head(RatingModel, model, settings, labels=labels, pooling=settings.pooling)
        return network, cls(train, validation, tokenizer, settings, lowest=min(known))

    @classmethod
    def baselines(cls, train: Sequence[LabelledText], test: Sequence[LabelledText]) -> Figures:
        """Always the median, which is nearest in the mean, and a linear model over words, rounded to a rating."""
        from sklearn.linear_model import Ridge

        known, right = (np.array([rating(row) for row in rows]) for rows in (train, test))
        texts, new = ([f"{row.text} \n {row.pair or ''}" for row in rows] for rows in (train, test))
        bags = bags_of_words(texts, ngram_range=(1, 2), sublinear_tf=True)
        said = Ridge().fit(bags.transform(texts), known).predict(bags.transform(new))
        said = said.round().clip(known.min(), known.max())
        median = np.full(len(right), np.median(known).round())
        return {"the median": rating_figures(right, median), "bag of words": rating_figures(right, said)}

    @classmethod
    def pictures(cls, rows: Sequence[Mapping[str, Any]], draw: Any, **decided: float) -> Pictures:
        """Which rating is taken for which, and how sure the model is."""
        picture = draw.confusion_matrix(*([str(row[name]) for row in rows] for name in ("label", "prediction")))
        said = (picture, "Which rating is taken for which. The farther from the diagonal, the worse.")
        return {"confusion": said, **super().pictures(rows, draw)}

    def __init__(
        self,
        train: Sequence[LabelledText],
        validation: Sequence[LabelledText],
        tokenizer: Tokenizer,
        settings: FinetuningSettings,
        lowest: int = 1,
    ):
        self.lowest = lowest
        super().__init__(train, validation, tokenizer, settings)

    def encode(self, rows: Sequence[LabelledText]) -> list[Example]:
        """Texts or pairs cut at max_length, and how far above the lowest each rating is."""
        length = self.settings.max_length
        return [
            {**encode_text(self.tokenizer, row.text, row.pair, length), "labels": rating(row) - self.lowest}
            for row in rows
        ]

    def counts(self, batch: Batch) -> dict[str, int]:
        """Texts."""
        return {"text": len(batch["labels"])}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed loss of the texts."""
        return {"text_loss": model(**batch).summed_loss}

    def read(self, model: nn.Module, batch: Batch) -> list[np.ndarray]:
        """How likely each text has each rating, [C]."""
        return list(softmax(model(*(batch[name] for name in INPUTS)).logits.double().cpu().numpy(), axis=-1))

    def predictions(self, model: nn.Module, rows: Sequence[LabelledText]) -> list[np.ndarray]:
        """The same for rows, in their order."""
        return self.outputs(model, self.encode(rows))

    def chosen(self, shares: np.ndarray) -> int:
        """The median: the lowest rating to which at least half of the probability goes, it included."""
        return self.lowest + int(np.searchsorted(shares.cumsum(), 0.5))

    def figures(self, rows: Sequence[LabelledText], predictions: Sequence[np.ndarray]) -> dict[str, float]:
        """Agreement and distance."""
        return rating_figures(np.array([rating(row) for row in rows]), np.array([*map(self.chosen, predictions)]))

    def explain(self, rows: Sequence[LabelledText], predictions: Sequence[np.ndarray]) -> list[dict[str, Any]]:
        """Both ratings, and how likely the model holds its own. The mistake: that, times how far off it is."""
        explained = []
        for row, shares in zip(rows, predictions, strict=True):
            right, found = rating(row), self.chosen(shares)
            sure = rounded(shares[found - self.lowest])
            said = {"label": right, "prediction": found, "probability": sure}
            off = abs(right - found) / max(1, len(shares) - 1)
            explained.append({**asked(row), **said, "mistake": mistake(sure, off)})
        return explained


def rating(row: LabelledText) -> int:
    """The rating of a row."""
    return round(float(row.label))  # type: ignore[arg-type]


def rating_figures(right: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """Quadratic weighted kappa (0: no better than chance, 1: the same), the mean distance, and the share that is right.

    kappa = 1 - mean (right - found)² / the mean of the same over all pairs of a right and of a found rating.
    """
    off, by_chance = (right - found) ** 2, (right[:, None] - found[None, :]) ** 2
    kappa = 1 - off.mean() / by_chance.mean() if by_chance.any() else 0.0
    return {
        "quadratic_weighted_kappa": float(kappa),
        "mean_absolute_distance": float(np.abs(right - found).mean()),
        "accuracy": float((right == found).mean()),
    }


TASK = OrdinalRegressionTask
