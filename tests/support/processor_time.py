"""Limits on time that hold on any machine, slow or busy: processor time, in units of this machine's own speed."""

import time
from collections.abc import Callable
from functools import cache

import torch


def processor_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@cache
def yardstick() -> float:
    """Processor seconds that a fixed piece of work takes here, the fastest of five: about 0.1."""

    def work() -> None:
        sum(number * number % 7 for number in range(600_000))
        weights = torch.ones(256, 256)
        for _ in range(100):
            weights = (weights @ weights).softmax(-1)

    return min(processor_seconds(work) for _ in range(5))
