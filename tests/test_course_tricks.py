"""Answers that would rather pass than be right, and answers that leave something behind: neither succeeds."""

import functools
import os
import signal
import sys
from pathlib import Path

import numpy
import pytest
import torch
from support.proofs import PROOFS

import bertedu.course.case
import bertedu.course.comparing
from bertedu.course import checking
from bertedu.course.case import Case
from bertedu.course.checking import check
from bertedu.course.exercise import EXERCISES, exercise
from bertedu.course.settings import SETTINGS, own_settings
from bertedu.course.verdict import Ended
from bertedu.model.attention import SelfAttention, attend


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    """Exercise 96.1: softmax over the last axis; 96.2: a class; 96.3: a value; 96.4: a plain number and a text."""
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")
    before = dict(EXERCISES)
    more = {"difficulty": 1, "minutes": 5, "hints": ("a", "b")}

    @exercise("96.1", "Softmax", **more)
    def softmax(case: Case) -> None:
        x = case.randn(2, 3)
        rows = case.call(x, tried="a matrix")
        case.close("the rows", rows, torch.softmax(x, -1))
        case.close("the mixture", rows @ torch.ones(3, 1), torch.ones(2, 1))

    @exercise("96.2", "A layer", kind="class", **more)
    def layer(case: Case) -> None:
        made = case.call(3, tried="hidden size 3")
        case.same_shape("the output", case.call(case.randn(2, 3), tried="two vectors", function=made), [2, 3])

    @exercise("96.3", "A guess", kind="value", **more)
    def guess(case: Case) -> None:
        case.predicted([4, "cat"], "Count.", mistakes=[([5, "cat"], "One less.")])

    @exercise("96.4", "Count", **more)
    def count(case: Case) -> None:
        case.equal("the count", case.call("a b", tried="a text"), {"a": [1, 2.5]})

    yield
    EXERCISES.clear()
    EXERCISES.update(before)


def right(x):
    return torch.softmax(x, dim=-1)


# Passing without being right ----------------------------------------------------------------------------------------


def says_yes(*_):
    raise Ended("yes")


class SaysYes:
    """A value that ends the check wherever it is compared."""

    __eq__ = __len__ = __iter__ = __getitem__ = says_yes
    __hash__ = None


class LayerSaysYes:
    def __init__(self, size):
        raise Ended("yes")


@pytest.mark.parametrize(
    ("number", "answer"),
    [("96.1", says_yes), ("96.2", LayerSaysYes), ("96.3", SaysYes()), ("96.3", [SaysYes(), "cat"])],
)
def test_an_answer_cannot_end_the_check_with_yes(number, answer):
    assert check(number, answer).status == "not yet"


def test_the_end_that_an_answer_raised_is_told():
    assert "But says_yes stopped with Ended" in repr(check("96.1", says_yes))


def agree(*_):
    return True


def nothing(*_):
    return 0


LIES = {
    **dict.fromkeys(("__eq__", "__le__", "__ge__", "__bool__"), agree),
    **dict.fromkeys(("__ne__",), lambda *_: False),
    **dict.fromkeys(("__sub__", "__rsub__", "__abs__"), nothing),
    "__hash__": lambda self: 1,
}
LyingInt, LyingFloat, LyingText = (type(f"Lying{base.__name__}", (base,), LIES) for base in (int, float, str))
Claims = type("Claims", (), {**LIES, "__class__": property(lambda self: int)})


def lying(value):
    """The same shape as a right guess, with a wrong number or text in every place, that says it is equal."""
    if isinstance(value, torch.Tensor | numpy.ndarray | numpy.generic):
        return lying(value.tolist())
    if isinstance(value, list | tuple):
        return [lying(item) for item in value]
    if isinstance(value, dict):
        return {key: lying(item) for key, item in value.items()}
    if isinstance(value, bool):
        return not value
    kind = {int: LyingInt, float: LyingFloat, str: LyingText}[type(value)]
    return kind(value + "x" if isinstance(value, str) else value + 1000)


PREDICTIONS = [number for number, e in EXERCISES.items() if e.kind == "value" and PROOFS.get(number)]


@pytest.mark.parametrize("number", [pytest.param(n, id=f"chapter_{n.partition('.')[0]:0>2}-{n}") for n in PREDICTIONS])
def test_a_wrong_guess_that_says_it_is_equal_is_refused(number):
    assert not check(number, lying(PROOFS[number]["accepted"][0])).passed


@pytest.mark.parametrize(
    "guess", [[LyingInt(7), "cat"], [Claims(), "cat"], [4, LyingText("dog")], [LyingFloat(9), "cat"]]
)
def test_a_lie_is_not_told_as_a_known_mistake(guess):
    told = repr(check("96.3", guess))
    assert "not yet" in told and "One less" not in told
    assert check("96.3", (4, "cat")).passed and "One less" in repr(check("96.3", [5, "cat"]))


Yes = type("Yes", (), LIES)
YesList = type("YesList", (list,), LIES)
YesDict = type("YesDict", (dict,), LIES)


@pytest.mark.parametrize(
    "lie",
    [Yes(), YesList(), YesDict(), YesDict(a=[Yes()]), {"a": Yes()}, {"a": [LyingInt(3), Yes()]}, {"a": [1, Claims()]}],
)
def test_an_object_that_equals_everything_is_refused(lie):
    assert check("96.4", lambda text: lie).status == "not yet"
    assert check("96.4", lambda text: {"a": (1, torch.tensor(2.5))}).passed


def test_a_tensor_that_is_close_to_everything_is_refused():
    class Liar(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            if function in (torch.Tensor.__eq__, torch.Tensor.le, torch.Tensor.__le__, torch.Tensor.isnan):
                return torch.ones(2, 3, dtype=torch.bool)
            return super().__torch_function__(function, types, args, kwargs or {})

    assert check("96.1", lambda x: torch.zeros(2, 3).as_subclass(Liar)).status == "not yet"


FILLED = [
    (bertedu.course.comparing.is_close, lambda *_, **__: True),
    (Case.close, lambda *_, **__: None),
    (Case.fail, lambda *_: None),
    (torch.nn.functional.softmax, lambda *_, **__: 0),
    (attend, lambda *_, **__: 0),
    (checking.Verdict.passed.fget, lambda self: True),
]


@pytest.mark.parametrize(("function", "code"), FILLED, ids=[f.__qualname__ for f, _ in FILLED])
def test_a_function_with_other_code_inside_does_not_help(function, code, monkeypatch):
    original = function.__code__
    monkeypatch.setattr(function, "__code__", code.__code__)
    verdict = check("96.1", lambda x: torch.zeros(2, 3))
    assert function.__code__ is code.__code__, "the notebook's own change is gone after the check"
    monkeypatch.undo()
    assert function.__code__ is original
    assert verdict.status == "not yet" and not verdict.passed


def test_a_replaced_default_value_does_not_change_a_check(monkeypatch):
    monkeypatch.setattr(bertedu.course.comparing.is_close, "__defaults__", (1e9,))
    assert not check("96.1", lambda x: torch.zeros(2, 3)).passed


@pytest.mark.parametrize("number", ["3.2", "96.1", "96.2"])
def test_the_package_does_not_answer_its_own_exercise(number):
    answers = {"96.2": [SelfAttention], "3.2": [attend], "96.1": [functools.partial(attend), SelfAttention.forward]}
    for answer in answers[number]:
        told = check(number, answer)
        assert told.status == "not yet" and "I was given the package's own" in repr(told)


# Strange ends -------------------------------------------------------------------------------------------------------


class Stop(BaseException):
    """No Exception."""


class Mute(Exception):
    def __str__(self):
        raise ValueError


class Nameless:
    @property
    def __name__(self):
        raise Stop

    def __call__(self, x):
        return right(x)


@pytest.mark.parametrize(
    ("error", "words"),
    [(Stop("enough"), "stopped with Stop: enough"), (GeneratorExit(), "with GeneratorExit"), (Mute(), "with Mute")],
)
def test_an_unusual_exception_is_told_in_words(error, words):
    def raises(x):
        raise error

    assert words in repr(check("96.1", raises))

    class Raises:
        def __init__(self, size):
            raise error

    assert words in repr(check("96.2", Raises))


class Unprintable:
    """A value that raises where it is shown, compared or asked for its kind."""

    def __repr__(self):
        raise Stop

    __class__ = property(__repr__)


def test_an_answer_that_has_no_name_or_no_words_is_examined():
    assert check("96.1", Nameless()).passed
    assert "I called your answer" in repr(check("96.1", type("N", (Nameless,), {"__call__": lambda s, x: x})()))
    for number in ("96.1", "96.3"):
        assert check(number, Unprintable()).status == "not yet"
    assert check("96.4", lambda text: Unprintable()).status == "not yet"
    named = lambda x: x  # noqa: E731
    named.__name__ = "a\x1b[2J" + "b" * 100
    assert "\x1b" not in repr(check("96.1", named))


# What an answer leaves behind ---------------------------------------------------------------------------------------


def change_everything(folder: Path) -> None:
    torch.set_num_threads(torch.get_num_threads() + 1)
    torch.use_deterministic_algorithms(True)
    sys.setrecursionlimit(sys.getrecursionlimit() + 100)
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    torch.set_printoptions(precision=1, sci_mode=True)
    numpy.set_printoptions(precision=1)
    torch.set_float32_matmul_precision("medium")
    os.chdir(folder)
    os.environ["BERTEDU_TRICK"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, says_yes)


def settings() -> list:
    return [repr(read()) for read, _ in SETTINGS]


@pytest.mark.parametrize("how", ["returns", "raises"])
def test_a_setting_that_an_answer_changed_is_put_back(how, tmp_path):
    def answer(x):
        change_everything(tmp_path)
        assert how == "returns"
        return torch.softmax(x.float(), -1).float()

    before = settings()
    try:
        check("96.1", answer)
        after = settings()
    finally:
        for (_, put_back), value in zip(SETTINGS, kept, strict=True):
            put_back(value)
    assert after == before


kept = [read() for read, _ in SETTINGS]


def test_one_setting_that_cannot_be_put_back_does_not_keep_the_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    threads = torch.get_num_threads()
    with own_settings():
        os.chdir(tmp_path)
        gone.rmdir()
        torch.set_num_threads(threads + 1)
    assert torch.get_num_threads() == threads


def test_autocast_of_the_notebook_does_not_change_a_check():
    def product(x):
        scores = x @ torch.eye(3)
        return torch.softmax(scores, -1)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert check("96.1", product).passed
        assert torch.is_autocast_enabled("cpu")


def test_an_answer_in_float64_hears_of_its_type():
    told = check("96.1", lambda x: torch.softmax(x.double(), -1))
    assert told.status == "not yet" and "has the type float64, and the inputs are float32" in repr(told)
