"""The warm process: it imports everything once, then copies itself for each answer. Run as a program by `grading`.

Tasks come as lines of JSON on its input, results go as lines of JSON to its output, in the order in which they end.
"""

import json
import os
import selectors
import signal
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

from bertedu.classroom.grading import examining, kernel
from bertedu.classroom.grading.examining import Task
from bertedu.classroom.grading.limits import Limits
from bertedu.classroom.variants import use_variant
from bertedu.course.loading import all_exercises

MOST_BYTES = 200_000  # of one result


def main() -> None:
    """Grade what comes until the input ends."""
    workers, limits = int(sys.argv[1]), Limits(**json.loads(sys.argv[2]))
    kernel.process_control(kernel.KILL_WITH_PARENT, signal.SIGKILL)
    kernel.process_control(kernel.DUMPABLE, 0)  # processes of the same user may not look into this one
    examining.warm()
    all_exercises()
    if len(sys.argv) > 3 and sys.argv[3]:
        use_variant(sys.argv[3])
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no result
    run(workers, limits, out)


def run(workers: int, limits: Limits, out: int) -> None:
    """Keep so many examiners busy."""
    watch = selectors.DefaultSelector()
    running: dict[int, tuple[int, str, bytearray, float]] = {}
    input_open = True
    waiting: list[bytes] = []
    rest = b""
    watch.register(0, selectors.EVENT_READ, "input")
    while input_open or waiting or running:
        for key, _ in watch.select(timeout=0.5):
            if key.data == "input":
                data = os.read(0, 2**16)
                *lines, rest = (rest + data).split(b"\n")
                waiting += lines
                if not data:
                    input_open = False
                    watch.unregister(0)
            elif not receive(key.fd, running):
                watch.unregister(key.fd)
                finish(key.fd, running, out)
        for pipe, (process, *_, began) in running.items():
            if time.monotonic() - began > limits.waiting * 2 + 20:  # an examiner has limits of its own
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            del pipe
        while waiting and len(running) < workers:
            pipe, *entry = start(waiting.pop(0), limits, [out, *running])
            running[pipe] = (*entry, bytearray(), time.monotonic())  # type: ignore[assignment]
            watch.register(pipe, selectors.EVENT_READ, "result")


def start(line: bytes, limits: Limits, others: list[int]) -> tuple[int, int, str]:
    """Copy this process into an examiner for one task: its pipe, its number, and the task's key."""
    told = json.loads(line)
    key = told.pop("key")
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.close(0)
            for pipe in (reading, *others):
                os.close(pipe)
            kernel.process_control(kernel.KILL_WITH_PARENT, signal.SIGKILL)
            kernel.process_control(kernel.ADOPT_ORPHANS, 1)
            result: dict[str, Any] = examining.examined(Task(**told), limits)
            data = json.dumps(result).encode()
            while data:
                data = data[os.write(writing, data) :]
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    return reading, process, key


def receive(pipe: int, running: dict) -> bool:
    """Take what an examiner has written; False at its end."""
    data = os.read(pipe, 2**16)
    running[pipe][2].extend(data)
    return bool(data) and len(running[pipe][2]) < MOST_BYTES


def finish(pipe: int, running: dict, out: int) -> None:
    """Pass an examiner's result on; nothing comes from one that died."""
    process, key, data, _ = running.pop(pipe)
    os.close(pipe)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    try:
        result = json.loads(data)
    except ValueError:
        result = None
    line = json.dumps({"key": key, "result": result}).encode() + b"\n"
    while line:
        line = line[os.write(out, line) :]


if __name__ == "__main__":
    main()
