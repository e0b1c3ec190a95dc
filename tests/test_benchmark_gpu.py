"""`make gpu` tried where there is no GPU: its plan by a clock that is not real, what it measures, what it writes."""

import importlib
import json
import random
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    script = importlib.import_module("gpu")
    monkeypatch.setattr(script.bare, "BEGUN", time.monotonic())
    return script


def plan(gpu, minutes=8.0, **options):
    """The parts as on a GPU."""
    given = SimpleNamespace(quick=False, tests=gpu.TESTS, minutes=minutes, without=[])
    return gpu.parts_of(SimpleNamespace(**{**vars(given), **options}), "cuda", with_transformers=True)


def go(gpu, parts, takes, seconds=480.0):
    """Each part's limit, and when it ended, by a clock that moves as a part takes its time: takes(part, limit)."""
    now, limits, ends = [0.0], {}, {}

    def call(part, limit):
        limits[part.name] = limit
        now[0] += takes(part, limit)
        return gpu.Outcome({"said": "done"})

    def done(part, outcome):
        ends[part.name] = now[0]

    gpu.run_parts(parts, seconds, call, done, clock=lambda: now[0])
    return limits, ends


def test_a_machine_without_a_gpu_is_told_so_and_gets_no_numbers(gpu, tmp_path, capsys):
    assert gpu.main(["--output", str(tmp_path)]) == 1
    assert "There is no GPU here" in capsys.readouterr().out and not list(tmp_path.iterdir())


def test_all_parts_fit_into_eight_minutes_as_predicted_and_base_comes_first(gpu):
    parts = plan(gpu)
    assert sum(part.predicted for part in parts) <= 60 * gpu.MINUTES - 60, "a minute is left for what was not foreseen"
    assert [part.name for part in parts][:5] == [
        "products",
        "bertedu base 256 × 128",
        "transformers at its best base 256 × 128",
        "bertedu base 64 × 512",
        "transformers at its best base 64 × 512",
    ]
    _, ends = go(gpu, parts, lambda part, limit: part.predicted)
    assert list(ends) == [part.name for part in parts]


def test_base_alone_fits_into_the_five_minutes_that_a_shared_quarter_of_an_hour_has(gpu):
    page = (BENCHMARKS / "gpu_quarter_hour.md").read_text("utf-8")
    assert "benchmarks/gpu.py --minutes 5 --without tests tiny mini 'as it comes'" in page
    parts = plan(gpu, without=["tests", "tiny", "mini", "as it comes"])
    assert len(parts) == 5 and sum(part.predicted for part in parts) <= 250


def test_a_part_that_does_not_end_is_cut_and_takes_no_time_from_the_others(gpu):
    parts = plan(gpu)
    for stuck in parts:
        limits, ends = go(gpu, parts, lambda part, limit, stuck=stuck: limit if part == stuck else part.predicted)
        assert stuck.predicted < limits[stuck.name] <= gpu.LIMIT * stuck.predicted
        assert all(limits[part.name] >= part.predicted for part in parts) and max(ends.values()) <= 480


def test_where_no_part_ends_each_still_has_its_predicted_time(gpu):
    parts = plan(gpu)
    limits, ends = go(gpu, parts, lambda part, limit: limit)
    assert all(limits[part.name] >= part.predicted - 1e-6 for part in parts)
    assert len(ends) == len(parts) and max(ends.values()) <= 480 + 1e-6


def test_too_little_time_for_the_plan_is_said_before_anything_is_measured(gpu, tmp_path, capsys):
    assert gpu.main(["--quick", "--minutes", "1", "--output", str(tmp_path)]) == 1
    assert "predicted to take" in capsys.readouterr().out and not list(tmp_path.iterdir())


def test_what_failed_stands_in_the_table_beside_what_was_measured(gpu):
    size = "base 256 × 128"
    parts = {
        "products": {"matrix_rate": 8e14, "sheet": 1e15},
        f"bertedu {size}": {"tokens_per_second": 9e5, "operations_per_token": 6e8, "ready_seconds": 41.0},
        f"{gpu.AT_ITS_BEST} {size}": {"failure": "took longer than 100 s to be ready"},
    }
    report = {"machine": "a GPU", "device": "cuda", "note": "", "sizes": [size], "parts": parts}
    said = gpu.table(report)
    row = f"| {size} | 900,000 | took longer than 100 s to be ready | not measured |  | 68% | 54% |  | 41 s |"
    assert row in said and "aim, base 256 × 128: 0.5 of the sheet: 0.54, reached" in said
    assert "1.5 times its best: not measured" in said and "base 64 × 512: 0.5 of the sheet: not measured" in said
    parts[f"{gpu.AT_ITS_BEST} {size}"] = {"tokens_per_second": 7e5}
    assert "aim, base 256 × 128: 1.5 times its best: 1.29, missed" in gpu.table(report)
    assert "reached" not in gpu.table({**report, "device": "cpu"}), "what a CPU does is no evidence for a GPU"


@pytest.mark.slow(cases=0)  # a minute
def test_the_quick_form_measures_and_writes_a_whole_report(gpu, tmp_path, capsys):
    arguments = ["--quick", "--output", str(tmp_path), "--minutes", "30", "--tests", "tests/test_errors.py"]
    assert gpu.main(arguments) == 0
    report = json.loads((tmp_path / "gpu.json").read_text("utf-8"))
    assert report["device"] == "cpu" and "There is no GPU here" in report["note"]
    parts = report["parts"]
    assert parts["tests"]["passed"] and "passed" in parts["tests"]["said"]
    sides = (gpu.BERTEDU, gpu.AT_ITS_BEST, gpu.AS_IT_COMES)
    rates = [parts[f"{side} tiny 4 × 32"]["tokens_per_second"] for side in sides]
    assert all(rate > 0 for rate in rates)
    found = gpu.figures_of(parts, "tiny 4 × 32")
    needed = parts["bertedu tiny 4 × 32"]["operations_per_token"]
    assert found["times its best"] == pytest.approx(rates[0] / rates[1])
    assert found["of the products"] == pytest.approx(rates[0] * needed / parts["products"]["matrix_rate"])
    assert "Self CPU" in (tmp_path / "profile-bertedu-tiny-4x32.txt").read_text("utf-8")
    said = (tmp_path / "gpu.md").read_text("utf-8")
    assert said in capsys.readouterr().out and said.count("| tiny 4 × 32 |") == 1


def test_all_sides_get_full_texts_with_the_same_number_of_masked_tokens(gpu):
    batch = gpu.gpu_parts.make_batch(4, 128)
    assert batch["attention_mask"].all() and (batch["labels"] != -100).sum(dim=1).tolist() == [19] * 4
    assert ((batch["input_ids"] == 103) == (batch["labels"] != -100)).all()


def test_every_pair_of_the_trainer_s_text_is_full(gpu):
    from bertedu.pretraining.sentence_pairs import PairMaker

    maker = PairMaker(gpu.gpu_parts.random_text(90_000), 128)
    task = object.__new__(gpu.gpu_parts.FullPairs)
    task.settings = SimpleNamespace(pairs="next")
    pairs = task.sequences(maker, random.Random(0))
    assert len(pairs) > 300 and {len(pair) for pair in pairs} == {125}


def test_a_python_that_lacks_something_is_told_what(gpu, monkeypatch):
    bare = importlib.import_module("bare")
    assert bare.what_is_missing() == ""
    found = importlib.util.find_spec
    monkeypatch.setattr(bare.importlib.util, "find_spec", lambda name: None if name == "accelerate" else found(name))
    assert bare.what_is_missing() == f"{sys.executable} lacks accelerate: install them, or take another Python."
    monkeypatch.setattr(bare.importlib.util, "find_spec", lambda name: None if name == "bertedu" else found(name))
    assert "PYTHONPATH=." in bare.what_is_missing()
    monkeypatch.setattr(bare, "version", lambda name: "2.9.1+cu130")
    assert "has torch 2.9.1+cu130: 2.11 or newer is needed" in bare.what_is_missing()


def test_without_transformers_the_rest_is_measured(gpu, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gpu.bare, "is_there", lambda name: False)
    called = []

    def child(context, work, *arguments, seconds, to_be_ready):
        called.append(work.__name__)
        return gpu.Outcome({"tokens_per_second": 5.0, "operations_per_token": 2.0, "matrix_rate": 100.0})

    monkeypatch.setattr(gpu, "in_child", child)
    assert gpu.main(["--quick", "--output", str(tmp_path)]) == 0
    assert called == ["products", "trainer_speed"]
    said = capsys.readouterr().out
    assert "transformers is not installed here: measured without a baseline." in said and "| 5 | not measured |" in said
