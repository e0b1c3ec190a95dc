"""Two processes on one machine, as `torchrun` starts them."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]


def run_two_processes(module: str, folder: Path, *words: str, timeout: float | None = None) -> None:
    """`torchrun -m support.MODULE FOLDER WORDS`, two processes of one thread each; a failure says how they ended."""
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    done = subprocess.run(
        [*command, "-m", f"support.{module}", str(folder), *words],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
        capture_output=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr.decode()[-20_000:]
