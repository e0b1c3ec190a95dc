"""What a process is fed with: its own rows of each batch, prepared, ahead of the steps where data workers help."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import torch
from torch.utils.data import Dataset

from bertedu.training.budget import Budget, Progress
from bertedu.training.task import Batch, Task

Request = tuple[int, int, float]  # the number of a batch in its pass, and at its step: the step, the share of the run


class Portion(NamedTuple):
    """What one process gets of a batch."""

    batch: Batch  # its own rows, prepared
    tokens: int  # real tokens of the whole batch
    counted: bool  # False where the batch has fewer rows than there are processes, and none is left for this one


class OwnRows(Dataset):
    """The batches of one pass, cut by rows into a part for each process: only its own rows are prepared."""

    def __init__(self, task: Task, batches: Sequence[Batch], process: int, processes: int):
        self.task, self.batches, self.process, self.processes = task, batches, process, processes

    def __getitem__(self, request: Request) -> Portion:
        number, step, share = request
        whole = self.batches[number]
        own = list(cut_rows(whole, self.processes))[self.process]
        counted = len(own["attention_mask"]) > 0
        if not counted:  # every process must take part in the step: with a row that counts nothing
            own = {name: tensor[:1] for name, tensor in whole.items()}
        return Portion(self.task.prepare(own, step, share), int(whole["attention_mask"].sum()), counted)


def requests(progress: Progress, budget: Budget, batches: Sequence[Batch]) -> Iterator[Request]:
    """Which batches come next, and when. Data workers ask ahead of the steps, so steps and tokens are counted ahead,
    and the result does not depend on how many workers there are; minutes are those of the moment.
    """
    ahead = replace(progress)
    for number in range(progress.batch, len(batches)):
        ahead.seconds = progress.seconds
        yield number, ahead.step, budget.share(ahead)
        ahead.step += 1
        if budget.tokens is not None:
            ahead.tokens += tokens_in(batches, number)


def tokens_in(batches: Sequence[Batch], number: int) -> int:
    """The real tokens of a batch, without making it where its lengths are known."""
    lengths = getattr(batches, "lengths", None)
    return sum(lengths(number)) if lengths else int(batches[number]["attention_mask"].sum())


def cut_rows(batch: Batch, parts: int) -> Iterator[Batch]:
    """Cut every tensor [B, ...] of a batch into `parts` by rows, as even as can be; some may be empty."""
    rows = len(next(iter(batch.values())))
    edges = [rows * i // parts for i in range(parts + 1)]
    for start, stop in pairwise(edges):
        yield {name: tensor[start:stop] for name, tensor in batch.items()}


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch with every tensor on the device."""
    return {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}
