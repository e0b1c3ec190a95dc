"""A few seconds of fuzzing: the long form is `benchmarks/fuzz.py`."""

import random

import pytest
from hostile_inputs import KINDS, Input, Wrong, check

from bertedu.errors import UserError

TRIED = {"fill-mask and attention": 15, "pretrain and finetune": 10, "model.safetensors": 25}


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_input_ends_in_a_traceback_or_in_silence(kind, tmp_path):
    for number in range(TRIED.get(kind, 100)):
        try:
            check(KINDS[kind](random.Random(f"suite {number}"), tmp_path))
        except Exception as error:
            raise AssertionError(f"{kind}, input {number}: {type(error).__name__}: {error}") from error


def refusing(sentence: str):
    def run():
        raise UserError(sentence)

    return run


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (Input(lambda: 1, None), "taken in silence"),
        (Input(lambda: 1, lambda: 2), "1 where there should be 2"),
        (Input(refusing("no."), None, must_pass=True), "nothing is wrong"),
        (Input(refusing("x" * 5000), None), "no sentence"),
    ],
)
def test_the_oracle_lets_everything_pass(made, says):
    with pytest.raises(Wrong, match=says):
        check(made)
