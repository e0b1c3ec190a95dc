"""A process of its own for a learner's file, so that an endless loop or an `os._exit()` in it ends nothing else."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bertedu.files import read_json

SECONDS = 180.0  # on the clock, with the time to load torch on a busy machine: for a file that waits without end
MOST_WORK = 30.0  # seconds of work, after which the system ends the process
ENDLESS = "It was still running after a long time, so I stopped it: is there a loop that never ends?"
ROOT = Path(__file__).resolve().parents[2]


def answer_of(module: str, name: str, path: Path) -> Any:
    """What a module, run as `python -m MODULE NAME PATH ANSWER`, writes as JSON into the file ANSWER.

    Where it writes nothing, a tuple of lines that say why. Ctrl-C ends the process without a word of its own.
    """
    with TemporaryDirectory() as folder:
        told = Path(folder) / "answer.json"
        # -P: a file of the learner's beside this one, such as random.py, does not hide the library's
        command = [sys.executable, "-P", "-m", module, name, str(path), str(told)]
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, env=environment, timeout=SECONDS, start_new_session=True
            )
        except subprocess.TimeoutExpired:
            return (ENDLESS,)
        return read_json(told) if told.exists() else without_answer(path, done.returncode)


def without_answer(path: Path, code: int) -> tuple[str, ...]:
    """What to say where the process ended before it told anything."""
    if code == -getattr(signal, "SIGXCPU", 0) != 0:
        return (ENDLESS,)
    advice = "Does the file need more memory than there is?" if code < 0 else "Does the file call `os._exit()`?"
    return (f"But Python ended (exit code {code}) before {path.name} was examined.", advice)


def limit_work() -> None:
    """Have the system end this process where a loop swallows every exception, the alarm's too (not on Windows)."""
    with suppress(ImportError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + MOST_WORK), most))
