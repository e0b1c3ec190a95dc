"""A disk that is full from the n-th write on: what was saved before is whole, and with space again the run ends as if
nothing had happened. The long form, with real disks and kills, is benchmarks/kills.py.
"""

import builtins
import errno
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from support.made_up_text import made_up_corpus, plan

from bertedu.checkpoints import folder as checkpoint_folder
from bertedu.errors import UserError
from bertedu.files import read_json
from bertedu.pretraining import run
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
from bertedu.training import metrics
from bertedu.training.metrics import read_metrics
from bertedu.training.resume import FILE

FULL = os.strerror(errno.ENOSPC)
OPTIONS = {"save_seconds": 0.0, "log_steps": 3, "steps": 6}


class Disk:
    """Counts writes; from the one numbered `full` on, half of what is written arrives, and the rest is refused."""

    def __init__(self, patch, full: int = 10**9):
        self.writes, self.full = 0, full
        self.logged: list[int] = []  # which writes were lines of the log
        patch.setattr(checkpoint_folder, "save_file", self.save_file)
        patch.setattr(Path, "write_bytes", lambda path, data: self.write_bytes(path, data))
        patch.setattr(metrics, "open", self.open, raising=False)

    def has_room(self) -> bool:
        self.writes += 1
        return self.writes < self.full

    def save_file(self, tensors, path, metadata) -> None:
        save_file(tensors, path, metadata)
        if not self.has_room():
            os.truncate(path, os.path.getsize(path) // 2)
            raise SafetensorError(f"{FULL} (os error 28)")

    def write_bytes(self, path: Path, data: bytes) -> int:
        room = self.has_room()
        with builtins.open(path, "wb") as file:
            file.write(data if room else data[: len(data) // 2])
        if not room:
            raise OSError(errno.ENOSPC, FULL)
        return len(data)

    def open(self, path, *given, **named):
        file = builtins.open(path, *given, **named)  # noqa: SIM115
        room = self.has_room()
        self.logged.append(self.writes)
        if not room:
            file.write('{"step": 1, "hal')
            file.close()
            raise OSError(errno.ENOSPC, FULL)
        return file


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    monkeypatch.setattr(run, "load_corpus", lambda names: made_up_corpus())


def silent(line: str) -> None:
    """Say nothing."""


def lines(folder: Path) -> list[dict]:
    """The log without what the clock says."""
    return [{name: value for name, value in line.items() if "second" not in name} for line in read_metrics(folder)]


@pytest.mark.slow
def test_a_disk_that_is_full_at_a_random_write_keeps_what_was_saved(tmp_path, monkeypatch, thorough):
    with monkeypatch.context() as patch:
        disk = Disk(patch)
        whole = pretrain(plan(tmp_path / "whole", **OPTIONS), silent)
    assert whole and disk.writes > 30
    rng = random.Random(15)
    for full in (rng.choice(disk.logged), *rng.sample(range(1, disk.writes + 1), 4 if thorough else 2)):
        folder = tmp_path / f"full at {full}"
        with monkeypatch.context() as patch, pytest.raises(UserError, match=rf"could not be written \({FULL}"):
            Disk(patch, full)
            pretrain(plan(folder, **OPTIONS), silent)
        assert not list(folder.rglob("*.partial")), full
        for path in folder.rglob("*.safetensors"):
            assert load_file(path), (full, path)
        begun = (folder / "run.json").exists()
        again = Plan.from_options(resume=folder) if begun else plan(folder, **OPTIONS)
        results = pretrain(again, silent)
        assert results and results["evaluation"] == whole["evaluation"]
        assert results == read_json(folder / "metrics.json")
        assert lines(folder) == lines(tmp_path / "whole"), full
        for name in ("checkpoint/model.safetensors", "checkpoint-best/model.safetensors"):
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), (full, name)
        assert load_file(folder / FILE).keys() == load_file(tmp_path / "whole" / FILE).keys()
        shutil.rmtree(folder)


@pytest.mark.slow(cases=0)  # 20 seconds; test_training_resume.py kills a few runs each time
@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked, and this system cannot")
def test_runs_killed_at_random_moments_end_the_same():
    script = Path(__file__).parents[1] / "benchmarks" / "kills.py"
    command = [sys.executable, str(script), "--kills", "8", "--full-disks", "0", "--seed", "15"]
    found = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(script.parents[1]), "OMP_NUM_THREADS": "1"},
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "bit-identical in the end" in found.stdout
