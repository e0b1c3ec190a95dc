"""What all fine-tuning tasks share: examples in batches, predictions in order, the best model by validation."""

import hashlib
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from bertedu.errors import UserError
from bertedu.finetuning.examples import EVALUATION_BATCH, Example, ExampleBatches, digest
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.model.evaluating import evaluating
from bertedu.tokenization import Tokenizer
from bertedu.training.feeding import to_device
from bertedu.training.loop import evaluate

Row = TypeVar("Row")
Batch = dict[str, Tensor]


class FinetuningTask(ABC, Generic[Row]):
    """A `training.loop.Task` over labelled rows. A task says how a row is encoded, what the loss is, how it is scored.

    validation rows choose the best weights: by `best_by`, one of the figures of `score` (higher is better).
    """

    best_by: str
    loss_weights: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        train: Sequence[Row],
        validation: Sequence[Row],
        tokenizer: Tokenizer,
        settings: FinetuningSettings,
    ):
        if not train:
            raise UserError("there is nothing to train on: the training data hold no row.")
        self.tokenizer, self.settings, self.validation_rows = tokenizer, settings, validation
        self.examples = self.encode(train)
        self.validation_examples: list[Example] | None = None  # encoded when they are looked at first

    @abstractmethod
    def encode(self, rows: Sequence[Row]) -> list[Example]:
        """The rows as numbers, with their labels."""

    @abstractmethod
    def predictions(self, model: nn.Module, rows: Sequence[Row]) -> list[Any]:
        """What a model says to each row, in their order: all that `figures` and `explain` need."""

    def decide(self, rows: Sequence[Row], predictions: Sequence[Any]) -> dict[str, float]:
        """What validation chooses besides the weights: fields of the model's config by name, which `figures` and
        `explain` take too. Most tasks have nothing of this kind.
        """
        return {}

    @abstractmethod
    def figures(self, rows: Sequence[Row], predictions: Sequence[Any]) -> dict[str, float]:
        """How good predictions are."""

    @abstractmethod
    def explain(self, rows: Sequence[Row], predictions: Sequence[Any]) -> list[dict[str, Any]]:
        """For each row what was asked, what is right, what the model said, and how sure it was: values for JSON.

        "mistake" is in all of them: 0 where the model is right, else the larger the more it is worth reading.
        """

    def score(self, model: nn.Module, rows: Sequence[Row]) -> dict[str, float]:
        """The figures of a model on labelled rows."""
        return self.figures(rows, self.predictions(model, rows))

    @abstractmethod
    def counts(self, batch: Batch) -> dict[str, int]:
        """How many things each loss is the mean of."""

    @abstractmethod
    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Summed losses and hits."""

    def identity(self) -> dict[str, Any]:
        """The settings, and the data as digests: validation chooses the weights, so it must stay the same, too."""
        return {**self.settings.identity(), "examples": self.examples_digest, "validation": self.validation_digest}

    @cached_property
    def examples_digest(self) -> str:
        """Computed once: a run is saved often, and SQuAD has 150,000 windows."""
        return digest(self.examples)

    @cached_property
    def validation_digest(self) -> str:
        """Of the rows as they were read."""
        return hashlib.sha256(repr(list(self.validation_rows)).encode()).hexdigest()[:16]

    def epoch(self, number: int) -> ExampleBatches:
        """The batches of one pass, in an order of their own."""
        rng = random.Random(f"{self.settings.seed} pass {number}")
        return ExampleBatches(self.examples, self.settings.batch_size, self.tokenizer.pad_token_id, rng)

    def prepare(self, batch: Batch, step: int, share: float) -> Batch:
        """Nothing is masked: the batch as it is."""
        return batch

    def validate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """The loss and the figures on the validation rows. Raises UserError where the loss is no number any more."""
        rows = self.validation_rows
        if not rows:
            return {}
        losses = self.validation_losses(model, device)
        predictions = self.predictions(model, rows)
        return {**losses, **self.figures(rows, predictions, **self.decide(rows, predictions))}

    def validation_losses(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """The mean losses on the validation rows, without dropout, under the names that they have in training."""
        if self.validation_examples is None:
            self.validation_examples = self.encode(self.validation_rows)
        batches = ExampleBatches(self.validation_examples, EVALUATION_BATCH, self.tokenizer.pad_token_id)
        losses = evaluate(model, self, batches, device)
        for name, loss in losses.items():
            if not math.isfinite(loss):
                raise UserError(
                    f"the {name.replace('_', ' ')} on the validation rows is {loss}: the weights ran away; choose a "
                    "lower --learning-rate."
                )
        return losses

    def quality(self, figures: dict[str, float]) -> float:
        """The figure that the best model has most of."""
        return figures[self.best_by]

    def outputs(self, model: nn.Module, examples: Sequence[Example]) -> list[Any]:
        """`read(model, batch)` for each example, in the order of the examples, without dropout or gradients."""
        batches = ExampleBatches(examples, EVALUATION_BATCH, self.tokenizer.pad_token_id)
        found = dict(zip(batches.order, self._read_all(model, batches), strict=True))
        return [found[number] for number in range(len(examples))]

    def _read_all(self, model: nn.Module, batches: ExampleBatches) -> Iterator[Any]:
        with torch.no_grad(), evaluating(model) as device:
            for batch in batches:
                yield from self.read(model, to_device(batch, device))

    @abstractmethod
    def read(self, model: nn.Module, batch: Batch) -> Sequence[Any]:
        """What the model says of each row of a batch, on the CPU."""
