"""Runs `device_steps.py`, every task on a device that is not the CPU, in processes that have used no device yet."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from support.other_device import AVAILABLE

from bertedu.training.devices import choose_precision

STEPS = Path(__file__).parent / "device_steps.py"
# What pytest is told to choose, and how many tests that are at least: each night, and in an ordinary run.
PARTS = {
    "pre_training_leaves or on_a_device or the_other_device": (40, 20),
    "fine_tuning_leaves": (100, 23),
    "whole_run": (10, 4),
    "goes_unnoticed": (10, 4),
}


@pytest.mark.slow
@pytest.mark.skipif(not AVAILABLE and not torch.cuda.is_available(), reason="this torch lets Python add no device")
@pytest.mark.parametrize("part", PARTS)
def test_a_task_leaves_a_tensor_on_the_cpu_or_a_planted_one_is_overlooked(part, thorough):
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command += ["--thorough"] if thorough else []
    done = subprocess.run([*command, STEPS, "-k", part], capture_output=True, text=True, env=environment)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0 and passed and int(passed[1]) >= PARTS[part][not thorough], done.stdout[-4000:]


def test_every_test_of_the_steps_is_in_one_part():
    names = re.findall(r"^def (test_\w+)", STEPS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name in names:
        chosen = [part for part in PARTS if any(word in name for word in part.split(" or "))]
        assert len(chosen) == 1, f"{name} is in {len(chosen)} parts"


@pytest.mark.parametrize(
    ("capabilities", "precision"),
    [
        ({"cpu_name": "Intel Xeon", "avx512_bf16": True}, "fp32"),  # half the speed of fp32, measured
        ({"cpu_name": "Intel Xeon", "avx512_bf16": True, "amx_bf16": True}, "bf16"),
        ({"cpu_name": "AMD EPYC", "avx512_bf16": True}, "bf16"),
        ({"avx512_bf16": True}, "bf16"),
        ({"cpu_name": "AMD EPYC"}, "fp32"),
        ({"bf16": True}, "bf16"),  # ARM
    ],
)
def test_auto_takes_bf16_where_it_is_slower_than_fp32(monkeypatch, capabilities, precision):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert choose_precision("auto", "cpu") == precision
