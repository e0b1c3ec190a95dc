"""What a process is fed with: its own rows of each batch, prepared, ahead of the steps where data workers help."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import torch
from torch.utils.data import DataLoader, Dataset

from bertedu.errors import UserError
from bertedu.training.budget import Budget, Progress
from bertedu.training.devices import runs_ahead
from bertedu.training.interrupts import ignore_interrupts
from bertedu.training.task import Batch, Task

Shaping = Callable[[Batch], Batch]  # what becomes of a prepared batch before it goes to the device
Request = tuple[int, int, int, float]  # a pass, the number of a batch in it, and at its step: the step, the run's share


def as_it_is(batch: Batch) -> Batch:
    """The shaping that changes nothing."""
    return batch


def shaping_for(task: Task, device: str, compiled: bool) -> Shaping:
    """A task may have a form of its batches for a device that runs ahead (`pretraining/few_shapes.py`)."""
    in_few_shapes = getattr(task, "in_few_shapes", None)
    if in_few_shapes is None or not runs_ahead(device):
        return as_it_is
    return partial(in_few_shapes, rounded=compiled)


class Portion(NamedTuple):
    """What one process gets of a batch."""

    epoch: int
    number: int  # of the batch in its pass
    batch: Batch  # its own rows, prepared
    counts: dict[str, int]  # of how many things each loss is the mean, in these rows
    tokens: int  # real tokens of the whole batch
    counted: bool  # False where the batch has fewer rows than there are processes, and none is left for this one


class OwnRows(Dataset):
    """The batches of all passes, cut by rows into a part for each process: only its own rows are prepared, and shaped
    as the device wants them.
    """

    def __init__(self, task: Task, process: int = 0, processes: int = 1, shaping: Shaping = as_it_is):
        self.task, self.process, self.processes, self.shaping = task, process, processes, shaping
        self.made: tuple[int, Sequence[Batch]] = (-1, [])

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The batches of a pass; of the latest one asked for they are kept. Raises UserError where there are none."""
        if self.made[0] != epoch:
            self.made = (epoch, self.task.epoch(epoch))
        if not len(self.made[1]):
            raise UserError("the training data make no batch: give more text, or a smaller batch.")
        return self.made[1]

    def __getitem__(self, request: Request) -> Portion:
        epoch, number, step, share = request
        whole = self.batches(epoch)[number]
        own = list(cut_rows(whole, self.processes))[self.process]
        counted = rows_of(own) > 0
        if not counted:  # every process must take part in the step: with a row that counts nothing
            own = {name: tensor[:1] for name, tensor in whole.items()}
        own, tokens = self.task.prepare(own, step, share), int(whole["attention_mask"].sum())
        return Portion(epoch, number, self.shaping(own), self.task.counts(own), tokens, counted)


def portions(rows: OwnRows, progress: Progress, budget: Budget, workers: int, pinned: bool) -> Iterator[Portion]:
    """This process's portions of the batches from where the run stands, pass after pass; keeps count in `progress`.

    Data workers stay for the whole run. Each makes the passes for itself: they are functions of their numbers.
    """
    rows.batches(progress.epoch)  # workers that are forked have it already
    loader: DataLoader = DataLoader(
        rows,
        batch_size=None,
        sampler=requests(progress, budget, rows),  # type: ignore[arg-type]
        num_workers=workers,
        worker_init_fn=ignore_interrupts,
        pin_memory=pinned,
    )
    for portion in loader:
        progress.epoch, progress.batch = portion.epoch, portion.number + 1
        yield portion


def requests(progress: Progress, budget: Budget, rows: OwnRows) -> Iterator[Request]:
    """Which batches come next, and when. Data workers ask ahead of the steps, so steps and tokens are counted ahead,
    and the result does not depend on how many workers there are; minutes are those of the moment.
    """
    ahead = replace(progress)
    while True:
        batches = rows.batches(ahead.epoch)
        for number in range(ahead.batch, len(batches)):
            ahead.seconds = progress.seconds
            yield ahead.epoch, number, ahead.step, budget.share(ahead)
            ahead.step += 1
            if budget.tokens is not None:
                ahead.tokens += tokens_in(batches, number)
        ahead.epoch, ahead.batch = ahead.epoch + 1, 0


def tokens_in(batches: Sequence[Batch], number: int) -> int:
    """The real tokens of a batch, without making it where its lengths are known."""
    lengths = getattr(batches, "lengths", None)
    return sum(lengths(number)) if lengths else int(batches[number]["attention_mask"].sum())


def cut_rows(batch: Batch, parts: int) -> Iterator[Batch]:
    """Cut every tensor [B, ...] of a batch into `parts` by rows, as even as can be; some may be empty."""
    rows = rows_of(batch)
    edges = [rows * i // parts for i in range(parts + 1)]
    for start, stop in pairwise(edges):
        yield {name: tensor[start:stop] for name, tensor in batch.items()}


def rows_of(batch: Batch) -> int:
    """How many rows a batch has."""
    return len(next(iter(batch.values())))


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch with every tensor on the device."""
    return {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}
