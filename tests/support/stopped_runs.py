"""A run that ends in the middle of a step, and whether two runs came to the same end."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from bertedu.training.metrics import read_metrics
from bertedu.training.resume import FILE
from support.tiny_run import ReportedTask, tiny_task, tiny_trainer


class Killed(BaseException):
    """Stands for a kill in tests that stay in one process."""


class KilledTask(ReportedTask):
    """Ends the run at one step, in the middle of nowhere."""

    def __init__(self, at: int):
        self.inner, self.at = tiny_task(), at

    def prepare(self, batch, step, share):
        if step == self.at:
            raise Killed
        return self.inner.prepare(batch, step, share)


def stop_at(folder: Path, step: int, **changes) -> None:
    with pytest.raises(Killed):
        tiny_trainer(folder, task=KilledTask(step), save_seconds=0, **changes).run()


def assert_same_end(first: Path, second: Path) -> None:
    """The same weights and Adam averages, bit for bit."""
    written = sorted(path.relative_to(first) for path in (first / "checkpoint").rglob("model.safetensors"))
    assert written and all((first / name).read_bytes() == (second / name).read_bytes() for name in written)
    states = [load_file(folder / FILE) for folder in (first, second)]
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def figures(folder: Path) -> list[dict]:
    """All lines of the log, without what depends on the clock."""
    return [{k: v for k, v in line.items() if "second" not in k} for line in read_metrics(folder)]


def assert_same(found: Path, wanted: Path) -> None:
    """The same figures on the way and the same weights at the end, within 1e-4."""
    lines, expected = read_metrics(found), read_metrics(wanted)
    assert [line["step"] for line in lines] == [line["step"] for line in expected] and expected
    for line, right in zip(lines, expected, strict=True):
        for name in right.keys() - {"seconds", "tokens_per_second"}:
            assert line[name] == pytest.approx(right[name], abs=1e-4), (name, line["step"])
    for checkpoint in ("checkpoint", "checkpoint-best"):
        weights, right = (load_file(where / checkpoint / "model.safetensors") for where in (found, wanted))
        furthest = max((float((weights[name] - right[name]).abs().max()), name) for name in right)
        assert furthest[0] < 1e-4, furthest
