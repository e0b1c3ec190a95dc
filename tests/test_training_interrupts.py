"""Ctrl-C and other signals: a gentle stop behind the step under way, from which the run goes on as if never stopped."""

import signal
import threading

import pytest
from support.tiny_run import tiny_task, tiny_trainer

from bertedu.training.metrics import read_metrics


class Interrupted:
    """A task with Ctrl-C, once or more often, while a step is under way."""

    def __init__(self, at: int, times: int = 1, number: int = signal.SIGINT):
        self.inner, self.at, self.times, self.number = tiny_task(), at, times, number

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def prepare(self, batch, step, share):
        if step == self.at:
            for _ in range(self.times):
                signal.raise_signal(self.number)
        return self.inner.prepare(batch, step, share)


def assert_same_run(one, other) -> None:
    """The same weights, bit for bit, and the same losses on the way."""
    weights, losses = [], []
    for folder in (one, other):
        weights.append((folder / "checkpoint/model.safetensors").read_bytes())
        losses.append([line["mlm_loss"] + line["nsp_loss"] for line in read_metrics(folder) if "mlm_loss" in line])
    assert weights[0] == weights[1]
    assert losses[0] == losses[1] and len(losses[0]) == 12


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_after_the_step_and_the_run_can_go_on(tmp_path, number):
    tiny_trainer(tmp_path / "whole").run()
    before = signal.getsignal(number)
    trainer = tiny_trainer(tmp_path / "stopped", task=Interrupted(at=4, number=number))
    assert trainer.run().step == 5 and trainer.stopped
    assert signal.getsignal(number) is before
    assert tiny_trainer(tmp_path / "stopped").run(resume=True).step == 12
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")


def test_a_trainer_that_was_stopped_goes_on_to_the_end(tmp_path):
    tiny_trainer(tmp_path / "whole").run()
    trainer = tiny_trainer(tmp_path / "stopped", task=Interrupted(at=4))
    assert trainer.run().step == 5
    assert trainer.run(resume=True).step == 12 and not trainer.stopped
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")


@pytest.fixture
def heard_ctrl_c():
    """Python's own answer to Ctrl-C, also where tests run as a shell's background job, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_second_ctrl_c_ends_at_once_and_the_run_can_go_on(tmp_path, heard_ctrl_c):
    tiny_trainer(tmp_path / "whole").run()
    with pytest.raises(KeyboardInterrupt):
        tiny_trainer(tmp_path / "stopped", task=Interrupted(at=4, times=2), save_seconds=0).run()
    tiny_trainer(tmp_path / "stopped").run(resume=True)
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")


def test_a_run_in_a_thread_needs_no_signals(tmp_path):
    reached = []
    thread = threading.Thread(target=lambda: reached.append(tiny_trainer(tmp_path, 2).run().step))
    thread.start()
    thread.join()
    assert reached == [2]
