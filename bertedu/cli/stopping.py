"""Ctrl-C and SIGTERM while a command runs: it is left from within, so that what it has open is closed and removed."""

import _thread
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN = 0.01  # seconds


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt inside the block; gives what is set once one has come.

    Whatever ends the block afterwards was stopped: a library that is being loaded makes an error of its own of it.
    """
    stopped, owner = threading.Event(), os.getpid()

    def heard(number: int, frame: FrameType | None) -> None:
        if os.getpid() != owner:  # a process that the command made, which has nothing to say
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        if loads_torch(frame) and callable(at_once := before[number]):
            at_once(number, frame)
        stopped.set()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield stopped  # signals reach the main thread only
        return
    before: dict[int, Any] = {number: signal.signal(number, heard) for number in SIGNALS}
    hook = sys.unraisablehook
    sys.unraisablehook = lambda lost: once_more() if lost.exc_type is KeyboardInterrupt else hook(lost)
    try:
        yield stopped
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def loads_torch(frame: FrameType | None) -> bool:
    """Whether a module of torch is being loaded: its C++ aborts at an exception there."""
    while frame and not (
        frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__", "").partition(".")[0] == "torch"
    ):
        frame = frame.f_back
    return frame is not None


def once_more() -> None:
    """Send Ctrl-C again in a moment: it came where Python can raise nothing, such as in the middle of an import."""
    threading.Timer(AGAIN, _thread.interrupt_main).start()
