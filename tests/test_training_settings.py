"""How a run takes its steps: what no run can be trained with is refused, whoever makes the settings."""

import math

import pytest

from bertedu.errors import UserError
from bertedu.pretraining.plan import Plan
from bertedu.training.settings import TrainingSettings


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("learning_rate", value) for value in (0.0, -1e-3, math.nan, math.inf)),
        *(("weight_decay", value) for value in (-0.1, math.nan, math.inf)),
        *(("clip_norm", value) for value in (0.0, -1.0, math.nan)),
        *(("warmup", value) for value in (-0.1, 1.0, math.nan)),
        *(("betas", value) for value in ((0.9, 1.0), (-0.1, 0.9), (math.nan, 0.9), (0.9,))),
        *(("accumulation", value) for value in (0, -2, 1.5)),
        *(("log_steps", value) for value in (0, -1)),
        *((name, -1) for name in ("data_workers", "validations", "patience", "save_seconds")),
        ("save_seconds", math.nan),
    ],
)
def test_a_number_that_nothing_can_be_trained_with_is_refused(field, value):
    with pytest.raises(UserError, match=f"{field} is .*: give"):
        TrainingSettings(**{"learning_rate": 1e-3, field: value})


@pytest.mark.parametrize("field", ["optimizer", "device", "precision"])
def test_an_unknown_choice_is_found_out_before_the_text_is_read(field):
    with pytest.raises(UserError, match=f"there is no {field} 'magic': choose one of"):
        TrainingSettings(**{"learning_rate": 1e-3, field: "magic"})


@pytest.mark.parametrize(("option", "value"), [("accumulation", 0), ("learning_rate", math.nan), ("data_workers", -1)])
def test_pretrain_refuses_options_that_no_run_can_be_trained_with(tmp_path, option, value):
    with pytest.raises(UserError, match=f"{option} is {value}"):
        Plan.from_options(output=tmp_path / "run", **{option: value})


def test_settings_that_can_be_trained_with_are_accepted():
    TrainingSettings(
        learning_rate=5e-5, weight_decay=0.0, betas=(0.0, 0.999), warmup=0.0, save_seconds=0, validations=0, patience=3
    )
