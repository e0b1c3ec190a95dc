"""What a cell of an assignment shows to learners, and what nbgrader takes for points."""

import dataclasses
import sys
import warnings

import pytest
from IPython.core.interactiveshell import InteractiveShell

from bertedu.classroom import scoring
from bertedu.course import checking
from bertedu.course.exercise import EXERCISES
from bertedu.course.loading import find
from bertedu.course.verdict import Verdict


@pytest.fixture(autouse=True, scope="module")
def shell():
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def right(x):
    warnings.warn("a warning", stacklevel=1)
    print("noise", file=sys.stderr)
    return x.transpose(1, 2).flatten(2)


def unscaled(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights


def stub(x):
    raise NotImplementedError


def test_nbgrader_takes_a_right_answer_that_warns_for_right(capsys):
    assert scoring.scored(2)("3.3", right) is None
    said = capsys.readouterr()
    assert "noise" not in said.err and "warning" not in said.err and "3.3 · yes." in said.out


@pytest.mark.parametrize("answer", [lambda x: x, stub, None, ..., 5, int])
def test_a_wrong_answer_gets_no_points(answer, capsys):
    assert scoring.scored(2, almost=0.5)("3.3", answer) == 0
    assert "3.3 · not" in capsys.readouterr().out


def test_an_answer_that_is_almost_right_gets_the_share_that_the_teacher_gives():
    assert scoring.scored(3, almost=0.5)("3.2", unscaled) == 1.5
    assert scoring.scored(3)("3.2", unscaled) == 0


def test_a_replaced_check_verdict_or_register_gives_no_points(monkeypatch):
    monkeypatch.setattr(Verdict, "passed", True)
    monkeypatch.setattr(checking, "examine", lambda *_: Verdict("3.3", "yes"))
    monkeypatch.setattr(checking, "check", lambda *_: Verdict("3.3", "yes"))
    monkeypatch.setattr(checking, "find", lambda _: None)
    monkeypatch.setitem(EXERCISES, "3.3", dataclasses.replace(find("3.3"), examine=lambda case: None))
    assert scoring.scored(2)("3.3", lambda x: x) == 0


def test_grading_leaves_memory_and_the_teachers_ticks_as_they_were(tmp_path, monkeypatch):
    ticks = tmp_path / "progress.json"
    monkeypatch.setenv("BERTEDU_PROGRESS", str(ticks))
    before = {name: module for name, module in sys.modules.items() if name.startswith("bertedu.course")}
    scoring.scored(2)("3.3", right)
    after = {name: module for name, module in sys.modules.items() if name.startswith("bertedu.course")}
    assert after == before and sys.modules["bertedu"].course is before["bertedu.course"]
    assert not ticks.exists()


def test_the_button_validate_calls_no_wrong_answer_right(monkeypatch, capsys):
    assert scoring.check("3.3", stub).status == "not attempted yet"
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    assert scoring.check("3.3", stub) is None
    assert "3.3 · not attempted yet." in capsys.readouterr().err
    assert scoring.check("3.3", lambda x: x.transpose(1, 2).flatten(2)).passed
