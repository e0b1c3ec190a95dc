"""Means over batches of different sizes, and a log that survives a kill."""

import json
import math
import sys

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from bertedu.errors import UserError
from bertedu.training.metrics import Averages, MetricsLog, read_metrics


def test_a_large_batch_counts_more_than_a_small_one():
    """The mean of the batches' means would be 3."""
    averages = Averages()
    averages.add(
        {"mlm_loss": torch.tensor(10.0, requires_grad=True), "nsp_accuracy": torch.tensor(3)}, {"mlm": 10, "nsp": 4}
    )
    averages.add({"mlm_loss": torch.tensor(10.0), "nsp_accuracy": torch.tensor(1)}, {"mlm": 2, "nsp": 4})
    assert averages.means() == {"mlm_loss": 20 / 12, "nsp_accuracy": 0.5}


def test_a_part_without_counts_adds_to_the_sum_alone():
    averages = Averages()
    averages.add({"mlm_loss": torch.tensor(1.0)}, {"mlm": 4})
    averages.add({"mlm_loss": torch.tensor(3.0)}, {})
    assert averages.means() == {"mlm_loss": 1.0}


def test_the_mean_of_nothing_is_nan():
    averages = Averages()
    averages.add({"mlm_loss": torch.tensor(0.0)}, {"mlm": 0})
    assert math.isnan(averages.means()["mlm_loss"])
    assert Averages().means() == {}


def test_after_a_resume_the_log_keeps_the_lines_up_to_the_step(tmp_path):
    log = MetricsLog(tmp_path)
    for step in (10, 20, 30):
        log.write(step, loss=1.0 / step)
        log.write(step, validation_loss=2.0 / step)
    log.close()
    with open(tmp_path / "metrics.jsonl", "a", encoding="utf-8") as file:
        file.write('{"step": 40, "lo')  # killed while writing
    assert [line["step"] for line in read_metrics(tmp_path)] == [10, 10, 20, 20, 30, 30]
    log = MetricsLog(tmp_path, first_step=20)
    log.write(30, loss=0.5)
    log.close()
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [line["step"] for line in lines] == [10, 10, 20, 20, 30]
    assert lines[-1] == {"step": 30, "loss": 0.5}


def test_a_new_run_begins_a_new_log(tmp_path):
    for value in (1.0, 2.0):
        log = MetricsLog(tmp_path)
        log.write(10, loss=value)
        log.close()
    assert read_metrics(tmp_path) == [{"step": 10, "loss": 2.0}]
    assert read_metrics(tmp_path / "nowhere") == []


def test_tensorboard_gets_the_numbers(tmp_path):
    log = MetricsLog(tmp_path)
    log.write(7, loss=0.25, remark="words are for metrics.jsonl alone")
    log.close()
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in events.Scalars("loss")] == [(7, 0.25)]


def test_without_tensorboard_the_figures_are_in_metrics_jsonl_alone(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    log = MetricsLog(tmp_path)
    log.write(7, loss=0.25)
    log.close()
    assert read_metrics(tmp_path) == [{"step": 7, "loss": 0.25}]
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"step": 1, "loss": [1]}, "line 2: 'loss' is \\[1\\], which is no number"),
        ({"step": 1, "loss": True}, "line 2: 'loss' is True"),
        ({"step": -1}, "line 2: the step -1 cannot be"),
        ({"step": 10**40}, "line 2: the step 1"),
    ],
)
def test_a_figure_that_is_none_is_refused(tmp_path, line, message):
    (tmp_path / "metrics.jsonl").write_text('{"step": 0}\n' + json.dumps(line) + "\n")
    with pytest.raises(UserError, match=f"metrics.jsonl, {message}"):
        read_metrics(tmp_path)
