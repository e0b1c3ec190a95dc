"""A service for as long as a block lasts: for notebooks and measurements.

It runs in a process of its own, by the command that a person would type, so that it has its own processor time and ends
as it would anywhere. It listens to this machine alone, on a free port.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bertedu.errors import UserError
from bertedu.production.running import PARENT

START_SECONDS, STOP_SECONDS = 180.0, 40.0
REFUSED = "bertedu: "  # how the command begins its sentence


@dataclass(frozen=True)
class Served:
    """A running service: where to ask it, the file with its log, its process."""

    url: str
    log: Path
    process: subprocess.Popen


@contextmanager
def serving(folder: str | Path, *options: str) -> Iterator[Served]:
    """Start `bertedu serve FOLDER` with these options, and stop it when the block ends, or this process.

    Raises UserError with what the command said where it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="bertedu-log-", ignore_cleanup_errors=True) as temporary:
        log = Path(temporary) / "service.log"
        command = [sys.executable, "-m", "bertedu", "serve", str(folder), "--port", "0", *options]
        environment = {**os.environ, PARENT: str(os.getpid())}
        with open(log, "wb") as errors:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8", env=environment
            )
        try:
            yield Served(address_said(process, log), log, process)
        finally:
            stop(process)


def address_said(process: subprocess.Popen, log: Path) -> str:
    """The address that a starting service prints. Raises UserError where it ends, or takes too long, before that."""
    assert process.stdout is not None
    impatient = threading.Timer(START_SECONDS, process.kill)
    impatient.start()
    try:
        for line in process.stdout:
            for word in line.split():
                if word.startswith("http://"):
                    return word
    finally:
        impatient.cancel()
    process.wait()
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    said = [line.removeprefix(REFUSED) for line in lines if line.startswith(REFUSED)] or lines
    raise UserError(f"the service did not start: {said[-1] if said else f'exit code {process.returncode}'}")


def stop(process: subprocess.Popen) -> None:
    """Ask a service to stop; one that does not is ended."""
    if process.poll() is None:
        process.terminate()
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
