"""The training loop: the same steps however a batch is cut, the same run for the same seed."""

import json
import math
import os

import pytest
import torch
from safetensors.torch import load_file
from support.tiny_run import tiny_task, tiny_trainer

from bertedu.errors import UserError
from bertedu.training.budget import Budget
from bertedu.training.feeding import cut_rows
from bertedu.training.loop import evaluate
from bertedu.training.metrics import read_metrics


def losses(folder) -> list[float]:
    return [line["mlm_loss"] + line["nsp_loss"] for line in read_metrics(folder) if "mlm_loss" in line]


def weights(trainer) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in trainer.bare_model.parameters()])


def same_bytes(first, second) -> bool:
    return (first / "checkpoint/model.safetensors").read_bytes() == (
        second / "checkpoint/model.safetensors"
    ).read_bytes()


class OneBatch:
    """A task that trains on the same few rows at each step: all of them, or an uneven number."""

    def __init__(self, rows: int):
        self.inner, self.rows = tiny_task(), rows

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def epoch(self, number):
        return [{name: tensor[: self.rows] for name, tensor in self.inner.epoch(0)[0].items()}]


def gradients(folder, rows: int, accumulation: int) -> torch.Tensor:
    """The gradient that the optimizer gets for one batch, before clipping changes anything."""
    trainer = tiny_trainer(folder, 1, OneBatch(rows), dropout=0.0, accumulation=accumulation, clip_norm=1e9)
    found = []
    parameters = list(trainer.bare_model.parameters())
    trainer.optimizers[0].optimizer.register_step_pre_hook(
        lambda *_: found.append(torch.cat([parameter.grad.flatten() for parameter in parameters]))
    )
    trainer.run()
    return found[0]


def test_the_gradient_is_that_of_the_mean_losses_over_the_batch(tmp_path):
    found = gradients(tmp_path, rows=8, accumulation=1)
    trainer = tiny_trainer(tmp_path, 1, OneBatch(8), dropout=0.0)
    batch = trainer.task.prepare(trainer.task.epoch(0)[0], 0, 0.0)
    labels = {"labels": batch["labels"], "next_sentence_label": batch["next_sentence_label"]}
    inputs = (batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
    trainer.bare_model.train()(*inputs, **labels).loss.backward()
    expected = torch.cat([parameter.grad.flatten() for parameter in trainer.bare_model.parameters()])
    assert expected.abs().max() > 0.1
    assert (found - expected).abs().max() < 1e-6


@pytest.mark.parametrize("rows", [8, 3, 1])
@pytest.mark.parametrize("accumulation", [2, 4])
def test_accumulation_gives_the_same_gradient_also_with_uneven_and_empty_parts(tmp_path, rows, accumulation):
    """Means of parts would weigh a masked word by how many others share its part."""
    whole, cut = gradients(tmp_path / "1", rows, 1), gradients(tmp_path / "n", rows, accumulation)
    assert whole.abs().max() > 0.1
    assert (whole - cut).abs().max() < 1e-6


class NeverEmpty(OneBatch):
    """A task with a loss that has no value without a row, such as that of a CRF."""

    def sums(self, model, batch):
        assert len(batch["input_ids"])
        return self.inner.sums(model, batch)


def test_a_last_batch_smaller_than_its_parts_is_trained_on(tmp_path):
    assert tiny_trainer(tmp_path, 2, NeverEmpty(1), accumulation=4).run().step == 2


@pytest.mark.parametrize("accumulation", [2, 4])
def test_accumulation_takes_the_same_steps(tmp_path, accumulation):
    whole = tiny_trainer(tmp_path / "whole", dropout=0.0)
    cut = tiny_trainer(tmp_path / "cut", dropout=0.0, accumulation=accumulation)
    assert whole.run().tokens == cut.run().tokens
    assert losses(tmp_path / "cut") == pytest.approx(losses(tmp_path / "whole"), abs=1e-5)
    assert (weights(whole) - weights(cut)).abs().max() < 1e-5


def test_rows_are_cut_evenly_and_none_is_lost():
    batch = {"a": torch.arange(3), "b": torch.arange(6).view(3, 2)}
    parts = list(cut_rows(batch, 4))
    assert [len(part["a"]) for part in parts] == [0, 1, 1, 1]
    assert torch.equal(torch.cat([part["b"] for part in parts]), batch["b"])
    assert [len(part["a"]) for part in cut_rows({"a": torch.arange(8)}, 4)] == [2] * 4


def test_gradients_are_clipped_to_the_norm(tmp_path):
    trainer = tiny_trainer(tmp_path, 3, clip_norm=0.01)
    norms = []
    parameters = list(trainer.bare_model.parameters())
    trainer.optimizers[0].optimizer.register_step_pre_hook(
        lambda *_: norms.append(math.sqrt(sum(float((p.grad**2).sum()) for p in parameters)))
    )
    trainer.run()
    assert norms == pytest.approx([0.01] * 3, rel=1e-3)


def test_the_learning_rate_follows_the_budget(tmp_path):
    tiny_trainer(tmp_path, 10, learning_rate=1.0, warmup=0.2).run()
    rates = [line["learning_rate"] for line in read_metrics(tmp_path) if "learning_rate" in line]
    assert rates == pytest.approx([0, 0.5, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125])


def test_the_same_seed_gives_the_same_run_and_another_seed_another(tmp_path):
    for name, seed in (("first", 0), ("second", 0), ("other", 1)):
        tiny_trainer(tmp_path / name, seed=seed).run()
        torch.manual_seed(len(name))  # what others draw does not matter
    assert same_bytes(tmp_path / "first", tmp_path / "second")
    assert losses(tmp_path / "first") == losses(tmp_path / "second")
    assert not same_bytes(tmp_path / "first", tmp_path / "other")


def test_data_workers_make_the_same_batches(tmp_path):
    tiny_trainer(tmp_path / "none", 40).run()
    tiny_trainer(tmp_path / "two", 40, data_workers=2).run()
    assert read_metrics(tmp_path / "none")[-1]["step"] == 40
    assert same_bytes(tmp_path / "none", tmp_path / "two")


class SaysWhoMadeIt:
    """A task whose batches name the process that made them."""

    def __init__(self):
        self.inner, self.makers = tiny_task(), []

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def prepare(self, batch, step, share):
        return {**self.inner.prepare(batch, step, share), "maker": torch.full((len(batch["input_ids"]),), os.getpid())}

    def sums(self, model, batch):
        if "maker" in batch:
            self.makers.append(int(batch["maker"][0]))
        return self.inner.sums(model, batch)


def test_data_workers_stay_from_pass_to_pass(tmp_path):
    """With a pass of a few batches, starting processes for each would take more time than the training."""
    task = SaysWhoMadeIt()
    trainer = tiny_trainer(tmp_path, 40, task, data_workers=2)
    trainer.run()
    assert trainer.progress.epoch >= 2 and len(set(task.makers)) == 2 and os.getpid() not in task.makers


def test_the_run_learns_both_predictions(tmp_path):
    """Made-up documents keep to eight words of 48: both losses must fall below those of a guess (3.87, 0.69)."""
    task = tiny_task(mask_rates=(0.3, 0.15))
    trainer = tiny_trainer(tmp_path, 480, task, dropout=0.0, learning_rate=1e-2, log_steps=80, validations=3)
    trainer.run()
    lines = read_metrics(tmp_path)
    trained = [line for line in lines if "mlm_loss" in line]
    assert trained[0]["mlm_loss"] > 3.7 and trained[-1]["mlm_loss"] < 2.6
    assert trained[-1]["nsp_loss"] < 0.55
    validated = [line for line in lines if "validation_mlm_loss" in line]
    assert [line["step"] for line in validated] == [160, 320, 480]
    best = min(line["validation_mlm_loss"] + line["validation_nsp_loss"] for line in validated)
    assert trainer.best == pytest.approx(-best)
    assert (tmp_path / "checkpoint-best/model.safetensors").exists()


class Worsening:
    """A task whose second validation is the best, and each one after it worse."""

    def __init__(self):
        self.inner, self.looked = tiny_task(), 0

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def validate(self, model, device) -> dict[str, float]:
        self.looked += 1
        return {"figure": float(abs(self.looked - 2))}

    def quality(self, figures: dict[str, float]) -> float:
        return -figures["figure"]


def test_a_run_without_progress_goes_on_to_its_end(tmp_path):
    trainer = tiny_trainer(tmp_path, 100, Worsening(), validations=20, patience=3)
    assert trainer.run().step == 25  # validated each fifth step; the best is the second, and three follow it
    assert trainer.best == 0.0
    best, last = (load_file(tmp_path / folder / "model.safetensors") for folder in ("checkpoint-best", "checkpoint"))
    assert any(not torch.equal(best[name], last[name]) for name in best)
    again = tiny_trainer(tmp_path, 100, Worsening(), validations=20, patience=3)
    assert again.run(resume=True).step == 25, "a run that had ended goes on when it is resumed"


def test_only_better_weights_replace_the_best(tmp_path):
    """Validations say 1, 2, 2 and no number: the second is kept, the first that is as good."""
    task = Worsening()
    qualities = iter((1.0, 2.0, 2.0, math.nan))
    task.quality = lambda figures: next(qualities)
    trainer, kept = tiny_trainer(tmp_path, 8, task, validations=4), []
    trainer.bare_model.save_pretrained = lambda folder: (
        kept.append(trainer.progress.step) if folder.name == "checkpoint-best" else None
    )
    trainer.run()
    assert kept == [2, 4] and trainer.best == 2.0


def test_every_part_of_a_model_learns_at_one_pace(tmp_path):
    """The head learns at once, the encoder in the second half only; embeddings never."""

    def pace(name: str) -> tuple[float, float]:
        return (0.0, 0.0) if "embeddings" in name else (1.0, 0.5) if name.startswith("bert.") else (2.0, 0.0)

    trainer = tiny_trainer(tmp_path, 2, weight_decay=0.0, warmup=0.0, pace=pace)
    parameters = dict(trainer.bare_model.named_parameters())
    before = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    moved = []
    trainer.task.prepare = lambda batch, step, share, prepare=trainer.task.prepare: (
        moved.append({name for name in parameters if not torch.equal(before[name], parameters[name])}),
        prepare(batch, step, share),
    )[1]
    trainer.run()
    after = {name for name in parameters if not torch.equal(before[name], parameters[name])}
    assert moved[0] == set()
    assert moved[1] and all(not name.startswith("bert.") for name in moved[1])
    assert any(name.startswith("bert.encoder") for name in after)
    assert not any("embeddings" in name for name in after)
    rates = {group["scale"]: group["lr"] for group in trainer.optimizers[0].param_groups}
    assert rates[2.0] == 2 * rates[1.0] > rates[0.0] == 0


def test_evaluation_has_no_dropout_and_counts_every_row(tmp_path):
    trainer = tiny_trainer(tmp_path, dropout=0.5)
    batches = trainer.task.validation()
    first, second = (evaluate(trainer.model, trainer.task, batches, torch.device("cpu")) for _ in range(2))
    assert first == second
    single = [{name: tensor[i : i + 1] for name, tensor in b.items()} for b in batches for i in range(len(b["labels"]))]
    assert evaluate(trainer.model, trainer.task, single, torch.device("cpu")) == pytest.approx(first, abs=1e-5)


def test_dropout_is_on_again_after_each_validation(tmp_path):
    """Validation turns it off; each step of training needs it."""
    trainer = tiny_trainer(tmp_path, 6, validations=3)
    in_training: list[bool] = []
    trainer.task.sums = lambda model, batch, sums=trainer.task.sums: (
        in_training.append(model.training),
        sums(model, batch),
    )[1]
    trainer.run()
    looked_at = len(trainer.task.validation())
    assert in_training == [True, True, *[False] * looked_at] * 3


def test_a_run_of_minutes_ends_on_time(tmp_path, monkeypatch):
    """On a clock that is 3 seconds further with each step, a minute has 20 steps and the rate ends near 0."""

    class Clock(OneBatch):
        now = 1000.0

        def prepare(self, batch, step, share):
            self.now += 3
            return self.inner.prepare(batch, step, share)

        def perf_counter(self):
            return self.now

    clock = Clock(8)
    monkeypatch.setattr("bertedu.training.loop.time", clock)
    progress = tiny_trainer(tmp_path, budget=Budget(minutes=1), task=clock, learning_rate=1.0, warmup=0.0).run()
    assert (progress.step, progress.seconds) == (20, 60)
    rates = [line["learning_rate"] for line in read_metrics(tmp_path) if "learning_rate" in line]
    assert rates == pytest.approx([1 - i / 20 for i in range(20)])


def test_a_run_of_tokens_counts_no_padding(tmp_path):
    class Counting(OneBatch):
        tokens = 0

        def prepare(self, batch, step, share):
            self.tokens += int((batch["input_ids"] != self.tokenizer.pad_token_id).sum())
            return self.inner.prepare(batch, step, share)

    task = Counting(8)
    progress = tiny_trainer(tmp_path, budget=Budget(tokens=500), task=task).run()
    assert progress.tokens == task.tokens and 500 <= progress.tokens < 700


def test_a_run_after_one_on_another_device_uses_its_own(tmp_path, monkeypatch):
    first = tiny_trainer(tmp_path / "first")
    monkeypatch.setitem(vars(first.accelerator.state), "device", torch.device("meta"))
    second = tiny_trainer(tmp_path / "second", 1)
    assert second.run().step == 1
    assert next(second.bare_model.parameters()).device == torch.device("cpu")


def test_a_run_after_one_in_another_precision_uses_its_own(tmp_path):
    """A run in bf16 computes other losses; and what it changed of the model and of Accelerate stays behind."""
    tiny_trainer(tmp_path / "before", 2, dropout=0.0).run()
    tiny_trainer(tmp_path / "rounded", 2, dropout=0.0, precision="bf16").run()
    tiny_trainer(tmp_path / "after", 2, dropout=0.0).run()
    assert losses(tmp_path / "before") == losses(tmp_path / "after")
    assert losses(tmp_path / "before") != losses(tmp_path / "rounded")
    assert losses(tmp_path / "before") == pytest.approx(losses(tmp_path / "rounded"), abs=0.05)


def test_data_that_make_no_batch_are_refused(tmp_path):
    with pytest.raises(UserError, match="no batch"):
        tiny_trainer(tmp_path, task=tiny_task_without_text()).run()


def tiny_task_without_text():
    task = OneBatch(8)
    task.epoch = lambda number: []
    return task


def test_metrics_are_lines_of_json(tmp_path):
    tiny_trainer(tmp_path, 4).run()
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [line["step"] for line in lines if "mlm_loss" in line] == [1, 2, 3, 4]
    wanted = {"tokens", "seconds", "tokens_per_second", "learning_rate", "mlm_loss", "mlm_accuracy", "nsp_loss"}
    assert wanted <= lines[0].keys()
