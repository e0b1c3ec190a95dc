"""Classes, sets of classes, or a score for a text or a pair of texts: what three tasks share. Notebooks 10 and 13.

Devlin et al. 2019, section 4.1 (GLUE). Shapes: B batch, T tokens, D hidden size, C classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.special import expit, softmax
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss

from bertedu.config import TaskConfig
from bertedu.corpora.readers import LabelledText
from bertedu.corpora.task_data import read_labelled
from bertedu.errors import UserError
from bertedu.finetuning.examples import Example, encode_text
from bertedu.finetuning.explaining import asked, labelled, likeliest, mistake, rounded, score_said
from bertedu.finetuning.head import HeadOutput
from bertedu.finetuning.labels import (
    SINGLE_LABEL,
    balanced_weights,
    classification_baselines,
    classification_figures,
    labels_of,
    target_of,
)
from bertedu.finetuning.pooling import PooledModel, pooled_size
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.task import Batch, FinetuningTask
from bertedu.model.architecture import Backbone
from bertedu.tokenization import Tokenizer
from bertedu.training.figures import Figures

LARGE_SCORE = 20.0


@dataclass
class ClassifierOutput(HeadOutput):
    """logits [B, C], and the loss when labels were given."""

    logits: Tensor


def classification_loss(logits: Tensor, labels: Tensor, problem_type: str, weight: Tensor | None = None) -> Tensor:
    """The loss that fits the problem, summed over texts. labels: [B] class numbers, [B, C] of 0 and 1, or [B] scores.

    For several classes at once each text gives the mean over its classes.
    """
    logits = logits.float()
    if problem_type == "regression":
        return mse_loss(logits.squeeze(-1), labels.float(), reduction="sum")
    if problem_type == "multi_label_classification":
        return binary_cross_entropy_with_logits(logits, labels.float(), reduction="none").mean(dim=-1).sum()
    return cross_entropy(logits, labels, weight=weight, reduction="sum")


def scale_to_learn(scores: Sequence[float]) -> dict[str, float]:
    """The mean and the standard deviation of scores as fields of TaskConfig; none where the scores are small.

    A new head says numbers around 0, and its weights move by about the learning rate a step: to 400,000 they never get.
    """
    if max(map(abs, scores), default=0.0) <= LARGE_SCORE:
        return {}
    return {"score_mean": float(np.mean(scores)), "score_deviation": float(np.std(scores)) or 1.0}


class TextClassifier(PooledModel):
    """An encoder, a vector for the text (`task_config.pooling`), dropout, and a linear layer to the classes.

    With the pooling "pooler" a saved folder opens in `transformers` as the class that is called
    BertForSequenceClassification for a BERT, and says the same there; `transformers` knows no other pooling.
    """

    kind = "ForSequenceClassification"

    def __init__(self, encoder: Backbone, task_config: TaskConfig):
        super().__init__(encoder, task_config)
        classes = 1 if task_config.problem_type == "regression" else len(task_config.labels)
        if classes == 0:
            raise UserError('there are no labels: give the names of the classes, labels=("negative", "positive").')
        self.dropout = nn.Dropout(self.config.head_dropout_prob)
        self.classifier = nn.Linear(pooled_size(self.config.hidden_size, task_config.pooling), classes)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> ClassifierOutput:
        """labels as `classification_loss` takes them."""
        logits = self.classifier(self.dropout(self.pooled(input_ids, attention_mask, token_type_ids)))
        if (of := self.task_config).score_deviation != 1.0:
            logits = logits.float() * of.score_deviation + of.score_mean
        if labels is None:
            return ClassifierOutput(logits)
        summed = classification_loss(logits, labels, self.task_config.problem_type)
        return ClassifierOutput(logits, summed_loss=summed, counted=len(labels))

    def settle(self) -> bool:
        """Let the last layer itself give scores in their own unit."""
        of = self.task_config
        if of.score_deviation == 1.0:
            return False
        with torch.no_grad():
            self.classifier.weight *= of.score_deviation
            self.classifier.bias.mul_(of.score_deviation).add_(of.score_mean)
        self.task_config = replace(of, score_mean=0.0, score_deviation=1.0)
        return True


BertForSequenceClassification = TextClassifier


class ClassificationTask(FinetuningTask[LabelledText]):
    """Learning the classes or the score of texts.

    labels are the names of the classes, in the order of their numbers; problem_type is one of `config.PROBLEMS`, that
    of the class where none is given. Raises UserError for a row whose label is none of them.
    """

    problem_type = SINGLE_LABEL
    networks = (TextClassifier,)
    options: ClassVar[tuple[str, ...]] = ("pooling",)
    pipeline = "text-classification"
    in_words = staticmethod(labelled)  # type: ignore[assignment]

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[LabelledText] = ()) -> list[LabelledText]:
        """Texts or pairs with their labels, of which there must be two."""
        labels = labels_of(train) if train else None
        rows = read_labelled(path, problem_type=cls.problem_type, labels=labels, split=split)
        if not train and len(found := labels_of(rows)) < 2:
            said = f"there is no label but {found[0]!r}" if found else "no row has a label"
            raise UserError(f"{path}: {said}, so that there is nothing to tell apart: add rows of other classes.")
        return rows

    @classmethod
    def make(cls, train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):  # type: ignore
        """A classifier for the labels of the data."""
        labels = cls.labels_for([*train, *validation])
        changes: dict[str, Any] = {"labels": labels, "problem_type": cls.problem_type, "pooling": settings.pooling}
        if cls.problem_type == "regression":
            changes |= scale_to_learn([float(row.label) for row in train])
        network = with_new_head(TextClassifier, model, settings, **changes)
        return network, cls(train, validation, tokenizer, settings, labels)

    @classmethod
    def labels_for(cls, rows: Sequence[LabelledText]) -> tuple[str, ...]:
        """The names of what a model says about such rows."""
        return labels_of(rows)

    @classmethod
    def baselines(cls, train: Sequence[LabelledText], test: Sequence[LabelledText]) -> Figures:
        """Always the same answer, and linear models over words."""
        return classification_baselines(train, test, cls.problem_type)

    @classmethod
    def serves(cls, task_config: TaskConfig) -> bool:
        """The problem tells which task it was."""
        return task_config.problem_type == cls.problem_type

    def __init__(
        self,
        train: Sequence[LabelledText],
        validation: Sequence[LabelledText],
        tokenizer: Tokenizer,
        settings: FinetuningSettings,
        labels: Sequence[str] = (),
        problem_type: str = "",
    ):
        self.labels, self.problem_type = tuple(labels), problem_type or self.problem_type
        super().__init__(train, validation, tokenizer, settings)
        scores = [float(row.label) for row in train] if self.problem_type == "regression" else []  # type: ignore[arg-type]
        self.deviation = scale_to_learn(scores).get("score_deviation", 1.0)
        self.weight = None
        if settings.class_weights == "balanced":
            self.weight = balanced_weights([self.target(row) for row in train], len(self.labels), self.problem_type)

    @property
    def best_by(self) -> str:  # type: ignore[override]
        """Accuracy for one class a text, micro F1 for several, Spearman's rank correlation for scores."""
        return {"regression": "spearman", "multi_label_classification": "micro_f1"}.get(self.problem_type, "accuracy")

    def target(self, row: LabelledText) -> Any:
        """The label of a row as a number, a list of 0 and 1, or a score."""
        return target_of(row, self.labels, self.problem_type)

    def encode(self, rows: Sequence[LabelledText]) -> list[Example]:
        """Texts or pairs cut at max_length, with their targets."""
        length = self.settings.max_length
        return [{**encode_text(self.tokenizer, row.text, row.pair, length), "labels": self.target(row)} for row in rows]

    def counts(self, batch: Batch) -> dict[str, int]:
        """Texts."""
        return {"text": len(batch["labels"])}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed loss of the texts of a batch."""
        logits = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"]).logits
        weight = None if self.weight is None else self.weight.to(logits.device)
        loss = classification_loss(logits, batch["labels"], self.problem_type, weight)
        return {"text_loss": loss / self.deviation**2}

    def read(self, model: nn.Module, batch: Batch) -> list[np.ndarray]:
        """The logits of each text, [C]."""
        logits = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"]).logits
        return list(logits.float().cpu().numpy())

    def predictions(self, model: nn.Module, rows: Sequence[LabelledText]) -> list[np.ndarray]:
        """The logits of each text, [C]."""
        return self.outputs(model, self.encode(rows))

    def figures(self, rows: Sequence[LabelledText], predictions: Sequence[np.ndarray]) -> dict[str, float]:
        """Accuracy and F1, or the correlations."""
        targets = np.array([self.target(row) for row in rows])
        return classification_figures(np.stack(predictions), targets, self.problem_type)

    def explain(self, rows: Sequence[LabelledText], predictions: Sequence[np.ndarray]) -> list[dict[str, Any]]:
        """The right label, the predicted one and its probability. Several classes: that of exactly this set, as if each
        were chosen on its own. Scores have an error in place of it.
        """
        say = {"regression": self.say_score, "multi_label_classification": self.say_classes}
        of_one = say.get(self.problem_type, self.say_class)
        return [{**asked(row), **of_one(row, logits)} for row, logits in zip(rows, predictions, strict=True)]

    def say_score(self, row: LabelledText, logits: np.ndarray) -> dict[str, Any]:
        """A score and how far off it is."""
        return score_said(float(row.label), float(logits[0]))  # type: ignore[arg-type]

    def say_classes(self, row: LabelledText, logits: np.ndarray) -> dict[str, Any]:
        """The classes above one half."""
        shares = expit(logits.astype(float))
        chosen = [label for label, share in zip(self.labels, shares, strict=True) if share > 0.5]
        sure = rounded(np.prod(np.maximum(shares, 1 - shares)))
        label = sorted(row.label) if isinstance(row.label, tuple) else [row.label]
        said: dict[str, Any] = {"label": label, "prediction": chosen, "probability": sure}
        said["mistake"] = mistake(sure, set(chosen) != set(label))
        return {**said, "probabilities": likeliest(self.labels, shares)}

    def say_class(self, row: LabelledText, logits: np.ndarray) -> dict[str, Any]:
        """The likeliest class."""
        shares = softmax(logits.astype(float))
        prediction, sure = self.labels[int(shares.argmax())], rounded(shares.max())
        said: dict[str, Any] = {"label": row.label, "prediction": prediction, "probability": sure}
        said["mistake"] = mistake(sure, prediction != row.label)
        return {**said, "probabilities": likeliest(self.labels, shares)}
