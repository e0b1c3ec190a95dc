"""A run in a process of its own, which tells from outside how far it is, so that it can be killed at that moment."""

import mmap
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bertedu.errors import UserError
from bertedu.training import loop

MOMENTS = (
    "before the first save",
    "inside the first save",
    "between saves",
    "inside another save",
    "inside the last save",
    "behind the last save",
)
LIMIT = 300  # seconds that a run may take before it counts as one that hangs


class Shared:
    """What a forked run tells of its place: runs begun, saves begun and ended in this one, whether it has trained."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 4)

    def watch(self) -> None:
        """Note the place from now on; called in the process of the run."""
        memory, run, save, train = self.memory, loop.Trainer.run, loop.Trainer._save, loop.Trainer._train

        def noted(of: Callable, before: Callable[[], None], after: Callable[[], None]) -> Callable:
            def call(*given: Any, **named: Any) -> Any:
                before()
                result = of(*given, **named)
                after()
                return result

            return call

        def put(place: int, value: int) -> None:
            memory[place] = value % 256

        def begin() -> None:
            put(0, memory[0] + 1), put(1, 0), put(2, 0), put(3, 0)

        def nothing() -> None:
            """Between the two there is nothing to note."""

        loop.Trainer.run = noted(run, begin, nothing)  # type: ignore[method-assign]
        loop.Trainer._save = noted(  # type: ignore[method-assign]
            save, lambda: put(1, memory[1] + 1), lambda: put(2, memory[2] + 1)
        )
        loop.Trainer._train = noted(train, nothing, lambda: put(3, 1))  # type: ignore[method-assign]

    def moment(self) -> str:
        """One of MOMENTS."""
        runs, begun, ended, last = self.memory[0:4]
        if not runs or begun == ended == 0:
            return MOMENTS[0]
        if begun != ended:
            return MOMENTS[4] if last else MOMENTS[1] if begun == 1 else MOMENTS[3]
        return MOMENTS[5] if last else MOMENTS[2]


def forked(work: Callable[[], None], log: Path) -> int:
    """Start this in a process of its own; returns its id. It ends with 0, with 2 where it was refused in a sentence
    (which it writes into the log), and with 1 after a traceback.
    """
    if child := os.fork():
        return child
    code = 1
    with open(log, "w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
        try:
            work()
            code = 0
        except UserError as error:
            file.write(f"refused: {error}\n")
            code = 2
        except BaseException:
            import traceback

            traceback.print_exc(file=file)
    os._exit(code)


def ended(child: int) -> int:
    """Wait for a process; its exit code, or minus the signal that ended it. One that hangs is killed."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise SystemExit(f"a run did not end in {LIMIT} seconds")
