"""What all fine-tuning tasks share: examples in batches, predictions in order, the best model by validation."""

import hashlib
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from bertedu.config import TaskConfig
from bertedu.errors import UserError, shown
from bertedu.finetuning.examples import EVALUATION_BATCH, Example, ExampleBatches, digest
from bertedu.finetuning.explaining import Mistake
from bertedu.finetuning.head import TaskModel
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.model.evaluating import evaluating
from bertedu.tokenization import Tokenizer
from bertedu.training.feeding import to_device
from bertedu.training.figures import Figures, Measure
from bertedu.training.loop import evaluate

Row = TypeVar("Row")
Batch = dict[str, Tensor]
Pictures = dict[str, tuple[Any, str]]  # by name, each with its caption
# What a model of a task can be used for in a service.
CLASSES, SEVERAL, SCORE, TAGS = "classes", "several classes", "score", "tags"
ANSWERS, VECTORS, WORDS = "answers", "vectors", "words"
USES = (CLASSES, SEVERAL, SCORE, TAGS, ANSWERS, VECTORS, WORDS)
CALIBRATION = (
    "How often the model is right when it is so sure, in ten bins. On the dotted line it would mean what it says; "
    "below it, it is too sure of itself. Bins with few predictions (see the bars) say little."
)


class FinetuningTask(ABC, Generic[Row]):
    """A `training.loop.Task` over labelled rows. A task says how a row is encoded, what the loss is, how it is scored.

    validation rows choose the best weights: by `best_by`, one of the figures of `score`.

    What is said of a task is said by its class, and everything else asks. networks are the classes of its models, and
    defaults the settings in which it differs from others; options are those that not every task knows. measures name
    the figures for people (None: no measure of quality), ceilings the baselines that are not to be beaten, and
    about_scale is what to know about figures of which less is better. row_types are those of the rows of `explain`.
    use is what a service does with the model, "" where none can, and pipeline the one in `transformers` that opens it.
    folders_by_label says that a folder with a folder for each label can be read.
    """

    best_by: str
    loss_weights: Mapping[str, float] = MappingProxyType({})

    networks: ClassVar[tuple[type[TaskModel], ...]]
    defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    options: ClassVar[tuple[str, ...]] = ()
    measures: ClassVar[Mapping[str, Measure | None]] = MappingProxyType({})
    ceilings: ClassVar[tuple[str, ...]] = ()
    about_scale: ClassVar[str] = ""
    row_types: ClassVar[Mapping[str, Any]]
    use: ClassVar[str] = ""
    pipeline: ClassVar[str] = ""
    folders_by_label: ClassVar[bool] = False

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[Row] = ()) -> list[Row]:
        """The labelled rows of a file, folder or hub:NAME; split is for the hub. Where training rows are given, what
        cannot be learned from them (another label, a score beyond theirs) is refused.
        """
        raise NotImplementedError

    @classmethod
    def make(
        cls, train: Sequence[Row], validation: Sequence[Row], tokenizer: Tokenizer, model: str, settings: Any
    ) -> tuple[TaskModel, Self]:
        """The model, loaded from the folder or hub id `model` with a new head, and the task."""
        raise NotImplementedError

    @classmethod
    def baselines(cls, train: Sequence[Row], test: Sequence[Row]) -> Figures:
        """The figures of simpler answers, by name."""
        raise NotImplementedError

    @classmethod
    def unit(cls, row: Row) -> Hashable | None:
        """What rows share that must not stand in training and validation at once; None where each is by itself."""
        return None

    @classmethod
    def measure(cls, name: str) -> Measure | None:
        """A figure for people, by its name."""
        return cls.measures.get(name, Measure(name.replace("_", " "), form=".3f"))

    @classmethod
    def check_row(cls, row: Mapping[str, Any], place: str) -> None:
        """Raise UserError where the values of a row of predictions do not fit together."""
        sure = row.get("probability", 0.0)
        if not all(0 <= one <= 1 for one in (sure if isinstance(sure, list) else [sure])):
            raise UserError(f"{place}: the probability {shown(sure)} is not between 0 and 1: run it again.")

    @classmethod
    def in_words(cls, row: Mapping[str, Any]) -> Mistake:
        """A row of `explain` for people."""
        raise NotImplementedError

    @classmethod
    def errors_shown(cls, rows: Sequence[Mapping[str, Any]], count: int) -> str:
        """Which rows a page shows as errors, of how many."""
        wrong = sum(row["mistake"] > 0 for row in rows)
        return (
            f"{wrong:,} of {len(rows):,} rows hold a mistake. Here are {count:,} of them, those first of which the "
            "model is surest."
        )

    @classmethod
    def pictures(cls, rows: Sequence[Mapping[str, Any]], draw: Any, **decided: float) -> Pictures:
        """What to look at in the rows of `explain`, with what validation decided. draw holds the charts of
        `bertedu.visualization`, which stands above and hands them down.
        """
        return {"calibration": (draw.reliability_diagram(*cls.sure_and_right(rows)), CALIBRATION)}

    @classmethod
    def sure_and_right(cls, rows: Sequence[Mapping[str, Any]]) -> tuple[list[float], list[bool]]:
        """How sure the model was of each of its answers, and whether it was right."""
        return [row["probability"] for row in rows], [row["mistake"] == 0 for row in rows]

    @classmethod
    def serves(cls, task_config: TaskConfig) -> bool:
        """Whether a model of one of its networks is of this task."""
        return True

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
        """The figure that the best model has most of, or least."""
        measure = self.measure(self.best_by)
        return -figures[self.best_by] if measure and measure.lower_is_better else figures[self.best_by]

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
