"""The settings of a notebook, put back after a check: what an answer switches on or off lasts as long as the check."""

import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy
import torch
from torch import _tensor_str


@contextmanager
def own_settings() -> Iterator[None]:
    """Random numbers from seed 0, gradients, float32, the CPU and no autocast inside; outside, the generators go on
    as if nothing had happened, and all settings are what they were."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with ExitStack() as stack:
        for read, put_back in SETTINGS:
            stack.callback(quietly, put_back, read())
        stack.enter_context(torch.random.fork_rng(devices=devices))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(torch.device("cpu"))
        torch.default_generator.manual_seed(0)
        random.seed(0)
        numpy.random.seed(0)
        torch.set_default_dtype(torch.float32)
        for device in AUTOCAST:
            torch.set_autocast_enabled(device, False)
        yield


def quietly(put_back: Callable[[Any], None], value: Any) -> None:
    """Put one setting back; where that cannot be done (a folder is gone), the others still are."""
    with suppress(OSError, ValueError, RuntimeError, TypeError):
        put_back(value)


AUTOCAST = ("cpu", "cuda")


def autocast() -> list[tuple[str, bool, torch.dtype]]:
    """For each device whether operations run in a smaller type, and in which."""
    return [(device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in AUTOCAST]


def set_autocast(values: list[tuple[str, bool, torch.dtype]]) -> None:
    """Put back what `autocast` told."""
    for device, enabled, dtype in values:
        torch.set_autocast_enabled(device, enabled)
        torch.set_autocast_dtype(device, dtype)


def deterministic() -> tuple[bool, bool]:
    """Whether torch refuses operations that do not repeat, and whether it only warns."""
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def set_deterministic(values: tuple[bool, bool]) -> None:
    """Put back what `deterministic` told."""
    torch.use_deterministic_algorithms(values[0], warn_only=values[1])


def folder() -> str | None:
    """The present folder; None where it has been deleted."""
    with suppress(OSError):
        return os.getcwd()
    return None


def set_environment(values: dict[str, str]) -> None:
    """Put the environment's variables back."""
    if dict(os.environ) != values:
        os.environ.clear()
        os.environ.update(values)


def handlers() -> dict[int, Any]:
    """What is done at each signal. Only the main thread may change that."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def set_handlers(values: dict[int, Any]) -> None:
    """Put back what `handlers` told."""
    for number, handler in values.items():
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


SETTINGS: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
    (random.getstate, random.setstate),
    (numpy.random.get_state, numpy.random.set_state),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (deterministic, set_deterministic),
    (autocast, set_autocast),
    (lambda: dict(vars(_tensor_str.PRINT_OPTS)), lambda values: vars(_tensor_str.PRINT_OPTS).update(values)),
    (numpy.get_printoptions, lambda values: numpy.set_printoptions(**values)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (folder, os.chdir),
    (lambda: dict(os.environ), set_environment),
    (handlers, set_handlers),
]
