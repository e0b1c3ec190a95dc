"""Time limits, away from the main thread too, and randomness that is given back."""

import random
import threading
import time

import pytest
import torch

import bertedu.model
from bertedu.course.guarding import Originals, in_thread, with_alarm, within
from bertedu.course.settings import own_settings
from bertedu.course.verdict import StillRunning
from bertedu.model.bert import BertModel


def busy() -> None:
    while True:
        pass


@pytest.mark.parametrize("limit", [with_alarm, in_thread, within])
def test_a_loop_does_not_outlive_its_time(limit):
    with pytest.raises(StillRunning):
        limit(0.1, busy)


def test_a_sleeper_does_not_outlive_its_time():
    with pytest.raises(StillRunning):
        with_alarm(0.05, lambda: time.sleep(60))


@pytest.mark.parametrize("limit", [with_alarm, in_thread])
def test_an_answer_in_time_is_kept(limit):
    assert limit(5, lambda: 3) == 3
    with pytest.raises(KeyError):
        limit(5, lambda: {}["a"])


def test_no_alarm_rings_after_the_work_is_done():
    assert with_alarm(0.05, lambda: 3) == 3
    time.sleep(0.15)


def test_waiting_for_a_busy_machine_does_not_count_as_looping():
    assert with_alarm(0.2, lambda: time.sleep(0.4) or 3) == 3


def test_a_check_in_another_thread_works():
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(within(5, lambda: 3)))
    thread.start()
    thread.join()
    assert outcome == [3]


def test_random_numbers_are_given_back_after_an_error():
    torch.manual_seed(1), random.seed(1)
    expected = torch.rand(1), random.random()
    torch.manual_seed(1), random.seed(1)
    with pytest.raises(ValueError), own_settings():
        torch.rand(3), random.random()
        raise ValueError
    assert (torch.rand(1), random.random()) == expected


def test_a_replacement_is_put_back_after_an_error(monkeypatch):
    originals, original = Originals(), torch.softmax
    monkeypatch.setattr(torch, "softmax", len)
    monkeypatch.setattr(torch.Tensor, "softmax", len, raising=False)
    with pytest.raises(ValueError), originals.restored():
        assert torch.softmax is original and "softmax" not in vars(torch.Tensor)
        raise ValueError
    assert torch.softmax is len and torch.Tensor.softmax is len


def test_a_notebooks_settings_do_not_change_a_check_and_are_given_back():
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), own_settings():
            assert torch.is_grad_enabled() and torch.zeros(1).dtype == torch.float32
        assert torch.zeros(1).dtype == torch.float64 and torch.is_grad_enabled()
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_name_that_hides_one_found_on_demand_is_taken_away_for_the_check(monkeypatch):
    """Nothing of it stands in the package when that is remembered: whoever imports it later would get the other one."""
    originals = Originals()
    monkeypatch.setitem(vars(bertedu.model), "BertModel", lambda config: None)
    with originals.restored():
        assert bertedu.model.BertModel is BertModel
    assert bertedu.model.BertModel is not BertModel
