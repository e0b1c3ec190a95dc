"""A run that diverges ends in a sentence and keeps what it had saved; its files stay valid JSON."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from support.tiny_run import tiny_task, tiny_trainer

from bertedu.errors import UserError
from bertedu.training.metrics import MetricsLog
from bertedu.training.resume import FILE


def refuse(name: str) -> float:
    raise AssertionError(f"{name} is no JSON")


def assert_whole(folder: Path) -> None:
    """Weights that are numbers, in all files, and a log that any reader of JSON understands."""
    for path in folder.rglob("*.safetensors"):
        assert all(torch.isfinite(tensor).all() for tensor in load_file(path).values()), path
    for line in (folder / "metrics.jsonl").read_text("utf-8").splitlines():
        json.loads(line, parse_constant=refuse)


class Poisoned:
    """A task whose loss is infinite, or no number, at one step."""

    def __init__(self, at: int, value: float):
        self.inner, self.at, self.value, self.step = tiny_task(), at, value, 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def sums(self, model, batch):
        sums = self.inner.sums(model, batch)
        self.step += model.training
        return {**sums, "nsp_loss": sums["nsp_loss"] + (self.value if self.step == self.at else 0.0)}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("save_seconds", [0.0, 1e9])
@pytest.mark.parametrize("log_steps", [1, 4, 50])
def test_a_loss_that_is_no_number_is_not_trained_on(tmp_path, value, save_seconds, log_steps):
    tiny_trainer(tmp_path / "good", steps=12, log_steps=log_steps, save_seconds=save_seconds).run()
    with pytest.raises(UserError, match=r"training diverged: the nsp loss is (nan|inf) at step"):
        tiny_trainer(tmp_path / "bad", task=Poisoned(7, value), log_steps=log_steps, save_seconds=save_seconds).run()
    assert_whole(tmp_path / "bad")
    assert tiny_trainer(tmp_path / "bad", log_steps=log_steps).run(resume=True).step == 12, "it cannot be resumed"
    assert (tmp_path / "bad" / FILE).exists()
    weights = "checkpoint/model.safetensors"
    assert (tmp_path / "bad" / weights).read_bytes() == (tmp_path / "good" / weights).read_bytes()


def test_weights_that_the_last_step_ruined_are_not_saved(tmp_path):
    """The loss before that step was a number; nobody looks at a loss after it."""
    trainer = tiny_trainer(tmp_path, steps=3, log_steps=1)

    def ruin(*anything) -> None:
        if trainer.progress.step == 2:
            trainer.bare_model.bert.embeddings.token.weight.data[7, 3] = float("inf")

    trainer.optimizers[0].optimizer.register_step_post_hook(ruin)
    with pytest.raises(UserError, match=r"bert\.embeddings\.token\.weight holds numbers that are not finite at step 3"):
        trainer.run()
    assert_whole(tmp_path)


class Nothing(Poisoned):
    """A task whose validation figures are no numbers."""

    def validate(self, model, device):
        return {"mlm_loss": float("nan"), "nsp_loss": 0.5}


def test_the_first_weights_are_kept_where_no_figure_is_a_number(tmp_path):
    """There would be no checkpoint-best to take up at the end, and a best figure that no other could beat."""
    trainer = tiny_trainer(tmp_path, task=Nothing(0, 0.0))
    trainer.run()
    assert trainer.best < -1e300
    assert (tmp_path / "checkpoint-best/model.safetensors").exists()
    assert_whole(tmp_path)
    again = tiny_trainer(tmp_path)
    again.run(resume=True)
    assert again.best == trainer.best


def test_a_figure_that_is_no_number_makes_valid_json(tmp_path):
    log = MetricsLog(tmp_path)
    log.write(3, loss=float("nan"), accuracy=0.5, perplexity=float("inf"))
    log.close()
    assert json.loads((tmp_path / "metrics.jsonl").read_text("utf-8"), parse_constant=refuse) == {
        "step": 3,
        "accuracy": 0.5,
    }
