"""What the training loop asks of a task: its data and its loss."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

Batch = dict[str, Tensor]


class Task(Protocol):
    """What a model is trained for: its data and its loss.

    The loss is the sum of the means whose names end in "_loss", each times its weight in loss_weights, 1 where it has
    none there.
    """

    @property
    def loss_weights(self) -> Mapping[str, float]:
        """The weight of a loss, by its name."""

    def identity(self) -> dict[str, Any]:
        """What must be the same for a run to be resumed."""

    def epoch(self, number: int) -> Sequence[Batch]:
        """The batches of one pass over the data, the same for the same number; tensors [B, ...] on the CPU."""

    def prepare(self, batch: Batch, step: int, share: float) -> Batch:
        """Some rows of a batch as the model gets them at this step (masked, say), `share` of the run being over.

        Called ahead of the step, by data workers where there are any. What becomes of a row must depend neither on the
        rows beside it nor on what was called before.
        """

    def validate(self, model: torch.nn.Module, device: torch.device) -> dict[str, float]:
        """Figures on validation data, looked at while training; empty where there are none."""

    def quality(self, figures: dict[str, float]) -> float:
        """One number for these figures, higher is better: which weights are kept as the best."""

    def counts(self, batch: Batch) -> dict[str, int]:
        """How many things each loss is the mean of, for example {"mlm": 140, "nsp": 16}."""

    def sums(self, model: torch.nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Summed losses and hits, "mlm_loss", "mlm_accuracy", ..., each to be divided by its count."""
