"""A few seconds of fuzzing: the long form is `benchmarks/fuzz.py`."""

import pytest
from support.hostile.inputs import KINDS, OFTEN, SHARES, try_one
from support.hostile.oracle import Input, Wrong, check

from bertedu.errors import UserError

# Inputs of each kind: tried each night, and in an ordinary run.
TRIED = {"pages with pictures": (3, 1), "fill-mask and attention": (10, 3), "answer": (15, 4)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_input_is_answered_in_words(kind, tmp_path, thorough):
    often = SHARES.get(kind, OFTEN) == OFTEN
    whole, part = TRIED.get(kind, (40, 10) if often else (15, 4))
    for number in range(whole if thorough else part):
        assert not (said := try_one(kind, f"suite {number}", tmp_path)), f"{kind}, input {number}: {said}"


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
        (Input(refusing("a file is damaged."), None, names="a.csv"), "a.csv is not named"),
    ],
)
def test_the_oracle_refuses_what_is_wrong(made, says):
    with pytest.raises(Wrong, match=says):
        check(made)
