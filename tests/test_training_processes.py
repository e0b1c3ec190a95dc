"""Several processes by torchrun take the same steps as one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny_run import tiny_trainer

from bertedu.training.metrics import read_metrics
from bertedu.training.optimization import OPTIMIZERS

PROGRAM = Path(__file__).parent / "tiny_run.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What two processes made."""
    folder = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", PROGRAM, folder]
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return folder


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_two_processes_take_the_same_steps_as_one(folder, tmp_path, optimizer):
    """Each batch is cut by rows: two processes get four of its eight rows each, and divide by the counts of all
    eight. So two processes with batch 8 in all must equal one process with batch 8, twice what each of them sees.
    """
    one = tiny_trainer(tmp_path, dropout=0.0, optimizer=optimizer)
    one.run()
    lines, expected = (read_metrics(where) for where in (folder / optimizer, tmp_path))
    assert len(lines) == len(expected) >= 12
    for line, wanted in zip(lines, expected, strict=True):
        for name in wanted.keys() - {"seconds", "tokens_per_second"}:
            assert line[name] == pytest.approx(wanted[name], abs=1e-4), (name, line["step"])
    weights, wanted = (load_file(where / "checkpoint/model.safetensors") for where in (folder / optimizer, tmp_path))
    assert all(torch.allclose(weights[name], wanted[name], atol=1e-4, rtol=0) for name in wanted)


@pytest.mark.parametrize("run", [*OPTIMIZERS, "minutes"])
def test_all_processes_end_at_the_same_step_with_the_same_weights(folder, run):
    """With minutes each process would go by its own clock: other rates, other masks, another last step."""
    first, second = ((folder / f"{run} process {i} of 2").read_text() for i in (1, 2))
    assert first == second
