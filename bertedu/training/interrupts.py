"""Ctrl-C and SIGTERM end a run gently: the step under way is finished, and the state is saved."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stopping_gently(stop: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM call `stop` inside the block; a second Ctrl-C ends the program at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return

    def heard(number: int, frame: Any) -> None:
        stop()
        signal.signal(signal.SIGINT, before[signal.SIGINT])

    before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_interrupts(worker: int) -> None:
    """Ctrl-C reaches the processes that make batches too; the step under way still needs them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
