"""check and hint: every answer hears something true, and no trick passes."""

import math
import random
import subprocess
import sys
import time

import numpy
import pytest
import torch

import bertedu.model.attention
from bertedu.course import checking, exercise
from bertedu.course.case import Case
from bertedu.course.checking import check, hint
from bertedu.course.exercise import EXERCISES
from bertedu.errors import UserError
from bertedu.model.attention import attend

FIRST, SECOND = "Look at the axis.", "It is softmax(x, -1)."


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    """Exercise 98.1: softmax over the last axis; 98.2: a class; 98.3: a value."""
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")
    monkeypatch.setattr(checking, "hints_given", {})
    before = dict(EXERCISES)
    more = {"difficulty": 1, "minutes": 5, "hints": (FIRST, SECOND)}

    @exercise.exercise("98.1", "Softmax", **more)
    def softmax(case: Case) -> None:
        x = case.randn(2, 3)
        rows = case.call(x, tried="a matrix")
        case.close("the rows", rows, torch.softmax(x, -1), mistakes={"Down, not across.": torch.softmax(x, 0)})
        expected, _ = attend(x[None, None], x[None, None], x[None, None])
        assert torch.allclose(expected.sum(), expected.sum()) and math.sqrt(4) == 2

    @exercise.exercise("98.2", "A layer", kind="class", **more)
    def layer(case: Case) -> None:
        made = case.call(3, tried="hidden size 3")
        case.same_shape("the output", case.call(case.randn(2, 3), tried="two vectors", function=made), [2, 3])

    @exercise.exercise("98.3", "A guess", kind="value", **more)
    def guess(case: Case) -> None:
        case.predicted(4, "Count.")

    yield
    EXERCISES.clear()
    EXERCISES.update(before)


def right(x):
    return torch.softmax(x, dim=-1)


def wrong(x):
    return torch.softmax(x, dim=0)


def test_the_words_are_those_of_the_course():
    assert repr(check("98.1", right)) == "98.1 · yes.\nI tried a matrix."
    lines = repr(check("98.1", wrong)).splitlines()
    assert (
        lines[0] == "98.1 · not yet." and lines[1] == "I called wrong on a matrix. The shape is right: the rows [2, 3]."
    )
    assert lines[3:] == ["Down, not across.", 'Next hint: hint("98.1")']


def test_success_lists_a_few_things():
    assert checking.shortened(["a"]) == "a" and checking.shortened(["a", "b", "c"]) == "a, b and c"
    assert checking.shortened([*"abcdefghij"]) == "a, b and 8 more"


def test_a_page_shows_an_answer_as_text():
    shown = checking.Verdict("98.1", "not yet", ("But x[0] < 1: use `a < b`, not <b>.",))._repr_html_()
    assert (
        ">" + "<strong>98.1 · not yet.</strong>\nBut x[0] &lt; 1: use <code>a &lt; b</code>, not &lt;b&gt;.</div>"
        in shown
    )


def test_passed_is_false_for_a_wrong_answer():
    assert check("98.1", right).passed is True
    assert check("98.1", wrong).passed is False and check("98.1", ...).passed is False


@pytest.mark.parametrize("unwritten", [None, ...])
@pytest.mark.parametrize("number", ["98.1", "98.2", "98.3"])
def test_an_answer_that_is_not_there_is_not_attempted(number, unwritten):
    assert repr(check(number, unwritten)).startswith(f"{number} · not attempted yet.\n")


class OnlyForward(torch.nn.Module):
    """A class whose given part works, and whose method is a stub."""

    def __init__(self, size):
        super().__init__()

    def forward(self, x):
        raise NotImplementedError  # Your turn


def test_a_class_with_a_stub_is_not_attempted():
    assert check("98.2", OnlyForward).status == "not attempted yet"
    assert check("98.2", lambda size: torch.nn.Identity()).status == "not yet"

    class Whole(OnlyForward):
        def forward(self, x):
            return x

    assert check("98.2", Whole).passed


def line_left_above(x):
    """Softmax."""
    raise NotImplementedError  # Your turn: write this, then run the cell.
    return torch.softmax(x, dim=-1)


def line_left_below(x):
    rows = []
    for row in x:
        rows.append(row.softmax(0))
    raise NotImplementedError()


def line_left_in_a_branch(x):
    if x.ndim == 1:
        return x.softmax(0)
    else:
        raise NotImplementedError


def line_left_in_a_helper(x):
    return line_left_above(x)


class LineLeft(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        raise NotImplementedError  # Your turn


class LineLeftBelow(torch.nn.Module):
    def __init__(self, size):
        super().__init__()

    def forward(self, x):
        return x
        raise NotImplementedError


def line_never_reached(x):
    return torch.softmax(x, dim=-1)
    raise NotImplementedError  # Your turn: write this, then run the cell.


@pytest.mark.parametrize(
    ("number", "answer", "function"),
    [
        ("98.1", line_left_above, "line_left_above"),
        ("98.1", line_left_below, "line_left_below"),
        ("98.1", line_left_in_a_branch, "line_left_in_a_branch"),
        ("98.1", line_left_in_a_helper, "line_left_above"),
        ("98.2", LineLeft, "__init__"),
    ],
)
def test_the_stubs_line_left_beside_an_answer_is_pointed_out(number, answer, function):
    told = check(number, answer)
    assert told.status == "not yet"
    assert f"stopped at the line `raise NotImplementedError` in {function}.\n" in repr(told)
    assert "Delete it, and run the cell again." in repr(told)


@pytest.mark.parametrize(("number", "answer"), [("98.1", line_never_reached), ("98.2", LineLeftBelow)])
def test_the_stubs_line_below_a_return_is_pointed_out(number, answer):
    told = check(number, answer)
    assert told.passed and told.lines[-1].startswith("You can delete the line `raise NotImplementedError`")


def only_a_docstring_and_comments(x):
    """Softmax over the last axis."""
    # exp, then divide
    pass
    raise NotImplementedError  # Your turn


def asks_for_a_stub(x):
    def helper(y):
        raise NotImplementedError

    return helper(x)


def asks_a_library(x):
    return torch.utils.data.Dataset()[0]


def test_a_comment_is_no_answer_and_a_library_no_stub():
    assert check("98.1", only_a_docstring_and_comments).status == "not attempted yet"
    assert check("98.1", asks_for_a_stub).status == "not attempted yet"
    told = check("98.1", asks_a_library)
    assert told.status == "not yet" and "But asks_a_library stopped with NotImplementedError" in repr(told)


def test_a_stub_whose_source_is_gone_is_not_attempted():
    names = {}
    exec("def f(x):\n    x = 1\n    raise NotImplementedError", names)
    assert check("98.1", names["f"]).status == "not attempted yet"


@pytest.mark.parametrize(
    ("number", "answer", "words"),
    [
        ("98.1", right(torch.ones(2, 2)), "I was given a Tensor. Hand in the function itself"),
        ("98.1", torch.nn.Softmax, "I was given a class."),
        ("98.2", torch.nn.Linear(3, 3), "Hand in the class itself"),
        ("98.3", right, "the exercise asks for a value"),
    ],
)
def test_the_wrong_kind_of_answer_is_refused_in_words(number, answer, words):
    verdict = check(number, answer)
    assert verdict.status == "not yet" and words in repr(verdict)


def test_an_answer_that_cannot_be_examined_shows_no_traceback():
    class Strange:
        __class__ = property(lambda self: 1 / 0)

    verdict = check("98.1", lambda x: Strange())
    assert verdict.status == "not yet" and "could not be examined" in repr(verdict)
    assert verdict.trouble[0] == "ZeroDivisionError" and "ZeroDivision" not in repr(verdict)


def endless(x):
    while True:
        pass


def endless_and_stubborn(x):
    while True:
        try:
            time.sleep(0.001)
            sum(range(1000))
        except Exception:
            pass


@pytest.mark.parametrize("answer", [endless, endless_and_stubborn])
def test_an_endless_loop_is_ended(answer, monkeypatch):
    monkeypatch.setattr(checking, "SECONDS", 0.2)
    said = repr(check("98.1", answer))
    assert "I called endless" in said and "still running after 0.2 seconds" in said


def test_an_interrupt_is_passed_on():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("98.1", interrupted)


def test_the_learners_random_numbers_are_not_disturbed():
    def noisy(x):
        torch.rand(1), numpy.random.rand(), random.random()
        torch.manual_seed(7)
        return right(x)

    torch.manual_seed(3), numpy.random.seed(3), random.seed(3)
    expected = torch.rand(1), numpy.random.rand(), random.random()
    torch.manual_seed(3), numpy.random.seed(3), random.seed(3)
    assert check("98.1", noisy).passed
    assert (torch.rand(1), numpy.random.rand(), random.random()) == expected


def fake(*_, **__):
    return True


def tensor_like(*_, **__):
    return torch.zeros(2, 3)


TRICKS = [
    (torch, "softmax", lambda x, *_, **__: torch.exp(x) / torch.exp(x).sum(0)),
    (torch, "allclose", fake),
    (torch, "equal", fake),
    (torch.Tensor, "softmax", tensor_like),
    (torch.Tensor, "any", lambda *_, **__: torch.tensor(False)),
    (torch.Tensor, "__eq__", lambda *_: torch.tensor(True)),
    (torch.Tensor, "abs", lambda x: torch.zeros_like(x)),
    (torch.nn.functional, "softmax", tensor_like),
    (math, "sqrt", fake),
    (bertedu.model.attention, "attend", fake),
    (bertedu.model.attention.SelfAttention, "forward", fake),
    (Case, "close", fake),
    (Case, "fail", fake),
    (checking, "examine", lambda exercise, answer: type("V", (), {"passed": True, "status": "yes"})()),
    (bertedu.course.case, "is_close", fake),
    (bertedu.course.comparing, "apart", lambda *_: torch.tensor([False])),
    (bertedu.course.verdict.Verdict, "passed", True),
]


@pytest.mark.parametrize(("owner", "name", "trick"), TRICKS, ids=[f"{o.__name__}.{n}" for o, n, _ in TRICKS])
def test_a_replaced_function_does_not_help(owner, name, trick, monkeypatch):
    own = name in vars(owner)
    monkeypatch.setattr(owner, name, trick)
    verdict = check("98.1", wrong)
    assert verdict.status == "not yet"
    assert vars(owner)[name] is trick, "the notebook's own replacement is gone after the check"
    assert check("98.1", right).status == "yes", "a right answer is judged by what was replaced"
    monkeypatch.undo()
    assert (name in vars(owner)) is own


def test_a_check_leaves_everything_as_it_was():
    before = dict(vars(torch)), dict(vars(Case)), dict(vars(torch.Tensor))
    replaced = checking.ORIGINALS.replaced()  # torch's own compiler, say, may have replaced a function by now
    check("98.1", right)
    assert (dict(vars(torch)), dict(vars(Case)), dict(vars(torch.Tensor))) == before
    assert checking.ORIGINALS.replaced() == replaced


def test_a_number_that_no_exercise_has_is_told_in_words():
    with pytest.raises(UserError, match=r"no exercise '98\.7': choose one of 98\.1, 98\.2, 98\.3"):
        check("98.7", right)
    with pytest.raises(UserError, match="in quotes"):
        check(right, "98.1")
    with pytest.raises(UserError, match="no exercise"):
        hint("98.9")


def test_hints_come_one_at_a_time():
    first, second, third = (repr(hint("98.1")) for _ in range(3))
    assert FIRST in first and SECOND not in first and first.endswith('One more: hint("98.1")')
    assert SECOND in second and "One more" not in second
    assert FIRST in third and SECOND in third


@pytest.mark.parametrize(
    ("number", "change", "words"),
    [
        ("98.1", {}, "taken"),
        ("x", {}, "chapter and exercise"),
        ("98.9", {"difficulty": 5}, "difficulty"),
        ("98.9", {"hints": ("one",)}, "two hints"),
    ],
)
def test_an_exercise_registered_wrongly_is_refused(number, change, words):
    settings = {"difficulty": 1, "minutes": 5, "hints": ("a", "b"), **change}
    with pytest.raises(ValueError, match=words):
        exercise.exercise(number, "title", **settings)


def test_a_learner_does_not_load_what_only_authors_need():
    code = "import sys, bertedu.course; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"transformers", "nbgrader", "nbconvert", "jupytext", "nbclient", "jupyterquiz", "matplotlib", "sklearn"}
    assert not heavy & set(loaded)
