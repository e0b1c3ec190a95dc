"""What is said before a run begins: how many tokens the minutes give here, and what so many tokens gave elsewhere."""

from itertools import pairwise

import pytest

from bertedu.pretraining import forecast as forecasts
from bertedu.pretraining.forecast import Reached, expected, forecast, is_default, recorded
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.pretraining.speed import training_speed


@pytest.fixture
def two_runs(monkeypatch):
    runs = (Reached(1e6, 20.0, 100.0, 50.0), Reached(16e6, 40.0, 25.0, 90.0))
    monkeypatch.setattr(forecasts, "recorded", lambda: runs)


def test_gains_follow_the_logarithm_of_the_tokens(two_runs):
    """Quality follows the logarithm of the tokens: 4 million is half way from 1 to 16; the perplexity is a geometric
    mean."""
    run = expected(4e6)
    assert (run.masked_words, run.next_sentence) == pytest.approx((30.0, 70.0))
    assert run.perplexity == pytest.approx(50.0)


@pytest.mark.parametrize(("tokens", "masked_words"), [(1e6, 20.0), (16e6, 40.0), (1e5, 20.0), (1e9, 40.0)])
def test_the_forecast_ends_with_what_was_recorded(two_runs, tokens, masked_words):
    assert expected(tokens).masked_words == masked_words


def test_minutes_are_counted_as_minutes(two_runs):
    said = " ".join(forecast(speed=10_000, minutes=5))
    assert "10,000 tokens a second 5 minutes give about 3.0 million tokens" in said
    assert "28 % of the masked words" in said and "66 % of the next sentences" in said
    assert said.endswith("make bert MINUTES=27")  # 16 million tokens take 26.7 minutes


def test_a_fast_machine_is_not_told_to_take_longer(two_runs):
    assert "MINUTES" not in " ".join(forecast(speed=100_000, minutes=5))


def test_a_very_slow_machine_is_promised_nothing(two_runs):
    said = " ".join(forecast(speed=1_000, minutes=1))
    assert "1 minute gives" in said and "Fewer than 1 million" in said and "expect" not in said


def test_the_records_are_in_order_and_get_better_with_more_tokens():
    runs = recorded()
    assert len(runs) >= 4
    for before, after in pairwise(runs):
        assert before.tokens < after.tokens and before.masked_words < after.masked_words
        assert before.perplexity > after.perplexity and before.next_sentence <= after.next_sentence + 1


@pytest.mark.parametrize(
    ("corpus", "changes", "told"),
    [
        (("documentation",), {}, True),
        (("documentation",), {"seed": 3}, True),
        (("world",), {}, False),
        (("documentation", "world"), {}, False),
        (("documentation",), {"initialization": "published"}, False),
        (("documentation",), {"pair_weight": 1.0}, False),
        (("documentation",), {"preset": "mini"}, False),
    ],
)
def test_another_recipe_gets_no_forecast_of_the_default(corpus, changes, told):
    assert is_default(corpus, PretrainingSettings.for_preset(**{"preset": "tiny", **changes})) is told


def test_a_larger_model_is_measured_as_itself():
    assert training_speed("cpu", "fp32", "mini", seconds=0.05) < training_speed("cpu", "fp32", seconds=0.05)
