"""How a run writes what it saves: at once, or, where the device runs ahead, beside the training.

A BERT-Base with its optimizer's averages is 1.3 GB: copied from a GPU in a tenth of a second, written in some seconds.
So a GPU would stand still for the writing. A CPU that trains would gain nothing, and pay for the copy.
"""

import copy
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertedu.checkpoints.folder import save_tensors
from bertedu.model.pretrained import PretrainedModel


class Saving:
    """Writes at once."""

    def tensors(self, path: Path, tensors: dict[str, Tensor], about: dict[str, str]) -> None:
        """One safetensors file."""
        save_tensors(path, tensors, about)

    def model(self, model: PretrainedModel, folder: Path) -> None:
        """A checkpoint."""
        model.save_pretrained(folder)

    def finish(self) -> None:
        """Wait for what is still being written. Raises what went wrong with it."""


class SavingBeside(Saving):
    """Copies at once and writes in a thread. The next save waits for the last one, and raises what went wrong with it.

    model: what will be saved; a copy of it on the CPU takes up the weights.
    """

    def __init__(self, model: PretrainedModel):
        self.twin = copy.deepcopy(model).cpu()
        self.threads, self.running = ThreadPoolExecutor(1), dict[str, Future[None]]()

    def tensors(self, path: Path, tensors: dict[str, Tensor], about: dict[str, str]) -> None:
        """One safetensors file, with the numbers of this moment."""
        self._wait_for("tensors")
        copies = {name: tensor.detach().to("cpu", copy=True) for name, tensor in tensors.items()}
        self._start("tensors", save_tensors, path, copies, about)

    @torch.no_grad()
    def model(self, model: PretrainedModel, folder: Path) -> None:
        """A checkpoint, with the weights of this moment."""
        self._wait_for("model")
        for kept, weight in zip(self.twin.state_dict().values(), model.state_dict().values(), strict=True):
            kept.copy_(weight)
        self._start("model", self.twin.save_pretrained, folder)

    def finish(self) -> None:
        """Wait for what is still being written. Raises what went wrong with it."""
        for what in list(self.running):
            self._wait_for(what)

    def _start(self, what: str, write: Callable[..., None], *given: Any) -> None:
        self.running[what] = self.threads.submit(write, *given)

    def _wait_for(self, what: str) -> None:
        if (running := self.running.pop(what, None)) is not None:
            running.result()
