"""Chapters that compute on a GPU where there is one: run on a device that is not the CPU, in a process of their own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from support.other_device import AVAILABLE

from bertedu.course.building.places import Places
from bertedu.course.rooms import number_of
from bertedu.files import read_text

ON_A_DEVICE = [
    number_of(source)
    for source in Places().all_sources()
    if re.search(r"^device\b.*= .*\bchoose_device\(|^where = choose_device\(", read_text(source), re.MULTILINE)
]
pytestmark = pytest.mark.skipif(
    not AVAILABLE and not torch.cuda.is_available(), reason="this torch lets Python add no device"
)

# Where a chapter may forget the device, by chapter.
MOVES = {
    "08": (
        "first_try = BertForPreTraining(config).to(device)",
        "batch = to_device(task.prepare(batches[step], step, 0.0), device)",
        "step_loss = watched(**to_device(example_batch, device)).loss",
        "parameter_groups(model.to(device))",
        "one.bert(encoding.input_ids.to(device)",
    ),
    "10": ("(part.to(device) for part in batch)", "model = (model or MyClassifier()).to(device)"),
    "11": ("batch = to_device(batch, device)",),
    "12": ("batch = to_device(batch, device)", "model.to(device).train()"),
    "13": ("batch = to_device(batch, device)", "model.to(device).train()"),
    "17": (
        "return pair.to(device)",
        "test_batch = to_device(masked_batch(new_ids, torch.Generator().manual_seed(1)), device)",
        "output = play(pair, to_device(masked_batch(train_ids[rows], generator), device))",
        "ids = tokenizer(sentence).input_ids.to(device)",
    ),
    "19": (
        "ids = torch.randint(10, (32, 16)).to(device)",
        "scores = agreement(train_ids[some].to(device))",
    ),
    "20": (
        "return BertForMaskedLM(config).to(device)",
        "(x.to(device) for x in (seen, (batch > 0).long(), labels))",
        "inputs = batch.input_ids.to(device), batch.attention_mask.to(device)",
    ),
    "23": ("task.sums(model, to_device(batch, device))", "fine_tune(model.to(device))"),
}


def without_device(code: str) -> str:
    """The code with its move to the device taken out."""
    return re.sub(r"to_device\((.+), device\)", r"\1", code).replace(".to(device)", "")


def run_on_the_device(*words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "support.chapter_on_device", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)


@pytest.mark.slow(cases=0)
@pytest.mark.parametrize("chapter", ON_A_DEVICE)
def test_a_chapter_runs_on_a_device_that_is_not_the_cpu(chapter):
    done = run_on_the_device(chapter)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(("chapter", "move"), [(chapter, move) for chapter, moves in MOVES.items() for move in moves])
def test_a_forgotten_move_to_the_device_is_noticed(chapter, move):
    done = run_on_the_device(chapter, move, without_device(move))
    assert done.returncode and "expected all tensors to be on the same device" in done.stderr, done.stderr[-4000:]


def test_the_chapters_that_train_for_long_ask_for_the_device():
    assert {"00", "08", "10", "11", "12", "13", "14", "15", "16", "17", "19", "20", "23"} <= set(ON_A_DEVICE)
