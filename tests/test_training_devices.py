"""Runs `device_steps.py`, every task on a device that is not the CPU, in a process that has used no device yet."""

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
AT_LEAST = {True: 160, False: 30}  # tests that pass: each night, and in an ordinary run


@pytest.mark.slow
@pytest.mark.skipif(not AVAILABLE and not torch.cuda.is_available(), reason="this torch lets Python add no device")
def test_no_task_leaves_a_tensor_on_the_cpu_and_planted_ones_are_noticed(thorough):
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", STEPS]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command += ["--thorough"] if thorough else []
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0 and passed and int(passed[1]) >= AT_LEAST[thorough], done.stdout[-4000:]


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
def test_auto_takes_bf16_only_where_it_is_faster(monkeypatch, capabilities, precision):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert choose_precision("auto", "cpu") == precision


@pytest.mark.parametrize(
    ("capability", "bf16", "precision"),
    [((9, 0), True, "bf16"), ((7, 5), False, "fp16"), ((7, 0), False, "fp16"), ((6, 1), False, "fp32")],
)
def test_auto_takes_fp16_on_a_gpu_with_units_for_it_and_none_for_bf16(monkeypatch, capability, bf16, precision):
    """Hopper, Turing (a T4), Volta, Pascal."""
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bf16)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    assert choose_precision("auto", "cuda") == precision
