"""about(): a number that is shown as measured, and that fails where it is too far from what the author measured."""

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bertedu.course import about

SANITIZE = Path(__file__).with_name("nbval_sanitize.cfg")


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("", "≈ 0.857"),
        (".2f", "≈ 0.86"),
        (".1%", "≈ 85.7%"),
        ("+.3f", "≈ +0.857"),
        (">9.2f", "   ≈ 0.86"),
        ("9.2f", "   ≈ 0.86"),
        ("<9.2f", "≈ 0.86   "),
        ("^9.2f", " ≈ 0.86  "),
        ("*>9.2f", "***≈ 0.86"),
        ("10", "   ≈ 0.857"),
        ("09.2f", "≈ 0000.86"),
        (".2e", "≈ 8.57e-01"),
    ],
)
def test_a_format_keeps_the_sign_and_the_width(spec, shown):
    assert format(about(0.861, 0.857, within=0.03), spec) == shown


@pytest.mark.parametrize(
    ("measured", "spec", "shown"),
    [(12345.6, ",.0f", "≈ 12,346"), (12345.6, "", "≈ 12,346"), (-0.5, ".1f", "≈ -0.5"), (3, "", "≈ 3")],
)
def test_a_large_or_negative_number_is_shown_without_powers_of_ten(measured, spec, shown):
    assert format(about(measured, measured, within=0), spec) == shown


def test_a_format_that_no_float_has_is_refused():
    with pytest.raises(ValueError):
        format(about(1, 1, within=0), ".2s")


@pytest.mark.parametrize("measured", [0.79, 0.9, math.nan, math.inf])
def test_a_number_too_far_away_is_refused(measured):
    with pytest.raises(
        AssertionError, match=rf"0\.861 was expected, give or take 0\.03, but {measured:g} was measured"
    ):
        about(0.861, measured, within=0.03)


def test_nothing_expected_and_no_tolerance_are_refused():
    for expected, within in ((math.nan, 1.0), (1.0, math.nan), (1.0, -1.0)):
        with pytest.raises(AssertionError):
            about(expected, 1.0, within=within)


def test_a_tensor_is_measured_and_a_sum_is_a_plain_number():
    for number in (torch.tensor(0.875), numpy.float32(0.875), 0.875):
        assert str(about(0.861, number, within=0.03)) == "≈ 0.875"
    measured = about(1, 1.5, within=1)
    assert measured == 1.5 and str(measured + 1) == "2.5" and str([measured]) == "[≈ 1.5]"
    assert str(pickle.loads(pickle.dumps(measured))) == "≈ 1.5"


def notebook_that_shows(stored: str, printed: str):
    output = new_output("stream", name="stdout", text=stored + "\n")
    return new_notebook(cells=[new_code_cell(f"print({printed!r})", execution_count=1, outputs=[output])])


SAME = [
    ("a ≈ 0.86, b", "a ≈ 0.8, b"),
    ("≈ 86.1%", "≈ 7%"),
    ("≈ -1,234.5", "≈ 12"),
    ("≈ 1.2e-05 x", "≈ 3 x"),
    ("   ≈ 9.90 |", "  ≈ 10.10 |"),
    ("≈ 9.90   |", "≈ 10.10  |"),
]
OTHER = [
    ("a 0.86", "a 0.87"),
    ("a ≈ 0.86, b 1", "a ≈ 0.86, b 2"),
    ("≈ 0.86", "0.86"),
    ("≈ 0.86", "≈ 86%x"),
    ("≈ 0.86 3", "≈ 0.86 4"),
    ("≈ nan", "≈ 0.5"),
    ("≈ half", "≈ all"),
]


def test_the_line_for_measured_numbers_lets_these_numbers_pass_and_no_others(tmp_path):
    for place, pair in enumerate(SAME + OTHER):
        nbformat.write(notebook_that_shows(*pair), str(tmp_path / f"{place:02}.ipynb"))
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env"]
    command += ["--nbval-sanitize-with", str(SANITIZE), str(tmp_path)]
    done = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=False)
    passed = {place for place in range(len(SAME + OTHER)) if f"PASSED {place:02}.ipynb" in done.stdout}
    assert passed == set(range(len(SAME))), done.stdout
    assert f"{len(OTHER)} failed, {len(SAME)} passed" in done.stdout
