"""`make gpu` tried where there is no GPU: what it measures, what it writes, and that it says so."""

import importlib
import json
from pathlib import Path

import pytest
import torch

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return importlib.import_module("gpu")


def test_a_machine_without_a_gpu_is_told_so_and_gets_no_numbers(gpu, tmp_path, capsys):
    assert gpu.main(["--output", str(tmp_path)]) == 1
    assert "There is no GPU here" in capsys.readouterr().out and not list(tmp_path.iterdir())


@pytest.mark.slow(cases=0)  # half a minute
def test_the_quick_form_measures_and_writes_a_whole_report(gpu, tmp_path, capsys):
    arguments = ["--quick", "--output", str(tmp_path), "--minutes", "30", "--tests", "tests/test_errors.py"]
    assert gpu.main(arguments) == 0
    report = json.loads((tmp_path / "gpu.json").read_text("utf-8"))
    assert report["device"] == "cpu" and "There is no GPU here" in report["note"]
    assert report["tests"]["passed"] and "passed" in report["tests"]["said"]
    (row,) = report["speeds"]
    rates = [row[side]["tokens_per_second"] for side in gpu.SIDES]
    assert all(rate > 0 for rate in rates)
    assert row["times transformers as it comes"] == pytest.approx(rates[0] / rates[2])
    needed = gpu.operations_per_token(gpu.config_of("tiny", 0.0), [gpu.make_batch(2)])
    assert row["share_of_matrix_rate"] == pytest.approx(rates[0] * needed / report["matrix_rate"])
    assert report["pretraining"]["step"] == 2 and report["pretraining"]["tokens_per_second"] > 0
    said = (tmp_path / "gpu.md").read_text("utf-8")
    assert said in capsys.readouterr().out and said.count("| tiny |") == 1
    assert "base at least 2.5: not measured" in said, "what a CPU does is no evidence for a GPU"


def test_both_sides_get_the_same_batches(gpu):
    """Full texts, the same number of masked tokens in each, and the labels of exactly these."""
    batch = gpu.make_batch(4)
    assert batch["attention_mask"].all() and (batch["labels"] != -100).sum(dim=1).tolist() == [gpu.MASKED] * 4
    assert ((batch["input_ids"] == 103) == (batch["labels"] != -100)).all()


def test_a_side_that_does_not_fit_is_left_out(gpu, monkeypatch):
    def full(*arguments):
        raise torch.cuda.OutOfMemoryError("full")

    monkeypatch.setattr(gpu, "side_of", full)
    assert gpu.speed("bertedu", "tiny", 2, "cpu", 0.1) == {"left_out": "not enough memory"}


def test_a_size_for_which_no_time_is_left_is_left_out(gpu):
    options, found = gpu.parse(["--minutes", "8"]), []
    options.matrix_rate = 1.0
    gpu.speeds(["large"], "cpu", options, lambda: 60 * 2 + gpu.RESERVED, found.append)
    assert found[0]["bertedu"] == {"left_out": "no time left"}
    assert gpu.pretrain_for_a_while(found, options, "cpu", 500.0) == {"left_out": "no preset was measured"}
