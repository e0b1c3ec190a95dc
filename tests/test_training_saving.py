"""Saving beside the training: the numbers of the moment, whole files, and no failure that is passed over."""

import threading
from contextlib import nullcontext

import pytest
import torch
from safetensors.torch import load_file
from support.stopped_runs import assert_same_end, figures
from support.tiny_run import tiny_model, tiny_trainer

from bertedu.checkpoints.folder import save_tensors
from bertedu.training.resume import FILE
from bertedu.training.saving import Saving, SavingBeside


@pytest.fixture
def running_ahead(monkeypatch):
    """The CPU as a device that runs ahead, as far as saving is concerned."""
    monkeypatch.setattr("bertedu.training.loop.runs_ahead", lambda device: True)
    for name in ("lean_modules", "scoring_in_chunks"):
        monkeypatch.setattr(f"bertedu.training.loop.{name}", lambda *others: nullcontext())


@pytest.mark.parametrize("save_seconds", [0.0, 60.0])
def test_a_run_that_saves_beside_leaves_the_same_files(tmp_path, running_ahead, save_seconds):
    at_once = tiny_trainer(tmp_path / "at once", save_seconds=save_seconds)
    at_once.saving = Saving()
    at_once.run()
    trainer = tiny_trainer(tmp_path / "beside", save_seconds=save_seconds)
    trainer.run()
    assert isinstance(trainer.saving, SavingBeside) and not trainer.saving.running
    assert_same_end(tmp_path / "at once", tmp_path / "beside")
    assert figures(tmp_path / "at once") == figures(tmp_path / "beside")


def test_training_goes_on_while_a_file_is_written_and_the_file_has_the_numbers_of_before(tmp_path, monkeypatch):
    model, wait = tiny_model(), threading.Event()
    saving = SavingBeside(model)

    def slowly(path, tensors, about):
        assert wait.wait(20)
        save_tensors(path, tensors, about)

    monkeypatch.setattr("bertedu.training.saving.save_tensors", slowly)
    numbers = torch.zeros(3)
    saving.tensors(tmp_path / FILE, {"numbers": numbers}, {})
    saving.model(model, tmp_path / "checkpoint")
    numbers += 1  # the next step, before anything is written
    with torch.no_grad():
        before = model.masked_lm.decoder.bias.clone()
        model.masked_lm.decoder.bias += 1
    assert not (tmp_path / FILE).exists() and not (tmp_path / "checkpoint").exists()
    wait.set()
    saving.finish()
    assert load_file(tmp_path / FILE)["numbers"].tolist() == [0, 0, 0]
    again = type(model).from_pretrained(tmp_path / "checkpoint")
    assert torch.equal(again.masked_lm.decoder.bias, before)


def test_what_goes_wrong_beside_the_training_ends_the_run(tmp_path, monkeypatch, running_ahead):
    trainer = tiny_trainer(tmp_path, save_seconds=0)

    def full(path, tensors, about):
        raise OSError("No space left on device")

    monkeypatch.setattr("bertedu.training.saving.save_tensors", full)
    with pytest.raises(OSError, match="No space left"):
        trainer.run()
    assert trainer.progress.step <= 1
