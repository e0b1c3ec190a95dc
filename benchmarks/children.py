"""A function in a process of its own that can be ended: what hangs, crashes or fills a GPU takes nothing else along.

A compiler may take longer than there is time, and a failed kernel leaves a process that can compute no more. So what is
measured or trained on a rented machine runs in a child. The child says when it is ready (compiled, its first steps
taken): it has one limit until then and another one for all of its work.

Children come from a server process that has imported the modules once and never used the GPU. When the parent is gone,
they end too.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

READY, RESULT, FAILED = "ready", "result", "failed"
Work = Callable[..., Any]


@dataclass(frozen=True)
class Outcome:
    """What became of a child: its result, or why there is none; the seconds until it was ready, and until its end."""

    value: Any = None
    failure: str = ""
    ready: float = 0.0
    seconds: float = 0.0


def server(modules: list[str]) -> Any:
    """Where children come from: a server that has these modules imported, found where this process finds them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(modules)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # what is missing is left out, unsaid
    try:
        forkserver.ensure_running()
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
    return context


def in_child(context: Any, work: Work, *arguments: Any, seconds: float, to_be_ready: float | None = None) -> Outcome:
    """Call work(ready, *arguments) in a child; it calls ready() when what may take long before is done.

    The child and all that it started are ended after `seconds`, or after `to_be_ready` where it was not ready by then.
    """
    receiver, sender = context.Pipe()
    child = context.Process(target=run, args=(sender, work, arguments))
    begun = time.monotonic()
    child.start()
    sender.close()
    limits = {"work": seconds, "be ready": seconds if to_be_ready is None else min(seconds, to_be_ready)}
    waits_to, ready = "be ready", 0.0

    def outcome(value: Any = None, failure: str = "") -> Outcome:
        return Outcome(value, failure, ready, time.monotonic() - begun)

    try:
        while True:
            left = begun + limits[waits_to] - time.monotonic()
            if left <= 0 or not receiver.poll(left):
                return outcome(failure=f"took longer than {limits[waits_to]:.0f} s to {waits_to}")
            try:
                kind, value = receiver.recv()
            except EOFError:
                child.join(5)
                return outcome(failure=f"ended with exit code {child.exitcode}")
            if kind == READY:
                waits_to, ready = "work", time.monotonic() - begun
            else:
                return outcome(value) if kind == RESULT else outcome(failure=value)
    finally:
        end(child)
        receiver.close()


def run(sender: Connection, work: Work, arguments: tuple) -> None:
    """In the child: the work, and what it gave or how it failed to the parent."""
    os.setpgrp()  # what it starts (compilers) belongs to its group, and ends with it
    threading.Thread(target=end_with_parent, args=(sender,), daemon=True).start()
    try:
        value = work(lambda: sender.send((READY, None)), *arguments)
        sender.send((RESULT, value))
    except BaseException as error:
        traceback.print_exc()
        sender.send((FAILED, f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"))


def end_with_parent(sender: Connection) -> None:
    """Wait for the parent's end of the pipe to close: it sends nothing."""
    with suppress(EOFError, OSError):
        sender.recv()
    os.killpg(0, signal.SIGKILL)


def end(child: Any) -> None:
    """End a child and everything in its group."""
    for _ in range(50):  # until it has a group of its own
        try:
            os.killpg(child.pid, signal.SIGKILL)
            break
        except ProcessLookupError:
            if not child.is_alive():
                break
            time.sleep(0.02)
    child.join()
