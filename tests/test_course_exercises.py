"""The checks are proven: right answers pass, real mistakes hear the words that explain them, stubs hear neither.

The answers are in tests/chapters/chNN_name/exercise_N.py: ANSWERS = {"3.2": {"accepted": [two or more], "wrong":
[(answer, phrase), four or more]}}, and those to the drills of the interview in tests/interview_drills/name.py.
"""

import functools
import inspect
from typing import Any

import numpy
import pytest
import torch
from support.processor_time import yardstick
from support.proofs import PROOFS, all_of_them, verdict_of

from bertedu.course import checking
from bertedu.course.case import plain
from bertedu.course.checking import hint
from bertedu.course.rooms import CHAPTERS
from bertedu.interview.drills.register import DRILLS

SHIPPED = all_of_them()
ODD = (0, 1.5, True, "", "a text", [], [1, 2], (), {}, (1, 2), (None, None), [[None]], object(), torch.nn.Linear)
ODD_TENSORS = (torch.zeros(()), torch.zeros(0), torch.full((2, 3), torch.nan), torch.ones(1, 1, 1, 1, 1).bool())


def called(answer: Any) -> str:
    return getattr(answer, "__name__", str(answer)[:30])


def named(exercise, *words: str) -> str:
    room = "drill" if exercise.number in DRILLS else f"chapter_{exercise.chapter}"
    return "-".join((room, exercise.number, *words))


def answers(kind: str) -> list:
    return [
        pytest.param(e.number, entry, id=named(e, called(entry[0] if kind == "wrong" else entry)))
        for e in SHIPPED
        for entry in PROOFS.get(e.number, {}).get(kind, [])
    ]


every_exercise = pytest.mark.parametrize("exercise", [pytest.param(e, id=named(e)) for e in SHIPPED])


@pytest.fixture(autouse=True, scope="module")
def imported():
    """The first check imports what checks need: that is no time of the answer's."""
    verdict_of("0.1", 324)
    verdict_of("layer-norm", len)


@pytest.fixture(autouse=True)
def no_ticks(monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")


@every_exercise
def test_every_check_is_proven(exercise):
    proof = PROOFS.get(exercise.number, {"accepted": [], "wrong": []})
    accepted, wrong = proof["accepted"], proof["wrong"]
    assert len(accepted) >= 2, f"{exercise.number}: give two right answers, written differently"
    assert len(wrong) >= 4, f"{exercise.number}: give four mistakes that people make"
    assert len({called(answer) for answer in accepted}) == len(accepted), "two right answers share a name"
    assert all(len(phrase.split()) >= 2 for _, phrase in wrong), "a phrase has two words or more"
    assert len({phrase for _, phrase in wrong}) >= 3, "four mistakes hear at least three different things"


def test_all_answers_belong_to_an_exercise():
    assert set(PROOFS) == {exercise.number for exercise in SHIPPED}


@pytest.mark.parametrize(("number", "answer"), answers("accepted"))
def test_a_right_answer_is_accepted(number, answer):
    before = torch.random.get_rng_state()
    verdict = verdict_of(number, answer)  # which also fails if it takes longer than checking.SECONDS
    assert verdict.passed, f"{verdict}\n{verdict.trouble or ''}"
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(("number", "entry"), answers("wrong"))
def test_a_mistake_is_refused_and_explained(number, entry, monkeypatch):
    monkeypatch.setattr(checking, "SECONDS", 40 * yardstick())  # some mistakes loop
    answer, phrase = entry
    verdict = verdict_of(number, answer)
    assert verdict.status in ("not yet", "almost"), verdict
    assert verdict.trouble is None, f"the check itself failed: {verdict.trouble}"
    assert phrase in repr(verdict).replace("\n", " "), f"{phrase!r} is not in:\n{verdict}"
    assert repr(verdict) == repr(verdict_of(number, answer)), "the same answer hears two different things"


def stub(*_: Any, **__: Any) -> Any:
    raise NotImplementedError


class Stub:
    """A class whose every method is a stub."""

    __init__ = stub


def first_accepted(number: str) -> Any:
    return PROOFS[number]["accepted"][0]


def with_results(change: Any, answer: Any) -> Any:
    """The answer with every number, text and tensor of its results changed."""

    @functools.wraps(answer)
    def run(*inputs: Any, **named: Any) -> Any:
        return in_parts(change, answer(*inputs, **named))

    return run


def in_parts(change: Any, value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(in_parts(change, item) for item in value)
    return {key: in_parts(change, item) for key, item in value.items()} if type(value) is dict else change(value)


def in_numpy(value: Any) -> Any:
    kinds = {bool: numpy.bool_, int: numpy.int64, float: numpy.float64, str: numpy.str_}
    return kinds[type(value)](value) if type(value) in kinds else value


def to_nan(value: Any) -> Any:
    changed.append(type(value) is float or (isinstance(value, torch.Tensor) and value.is_floating_point()))
    return value * float("nan") if changed[-1] else value


changed: list[bool] = []


@pytest.mark.parametrize("exercise", [pytest.param(e, id=named(e)) for e in SHIPPED if e.kind != "class"])
def test_a_right_answer_in_numpys_numbers_is_accepted(exercise):
    answer = first_accepted(exercise.number)
    answer = in_parts(in_numpy, answer) if exercise.kind == "value" else with_results(in_numpy, answer)
    assert verdict_of(exercise.number, answer).passed, verdict_of(exercise.number, answer)


@pytest.mark.parametrize("exercise", [pytest.param(e, id=named(e)) for e in SHIPPED if e.kind == "function"])
def test_a_right_answer_with_other_names_for_its_parameters_is_accepted(exercise):
    answer = first_accepted(exercise.number)
    parameters = inspect.signature(answer).parameters.values()
    others = [one.replace(name=f"other_{place}") for place, one in enumerate(parameters)]

    def renamed(*inputs: Any) -> Any:
        return answer(*inputs)

    renamed.__signature__ = inspect.Signature(others)
    assert verdict_of(exercise.number, renamed).passed, verdict_of(exercise.number, renamed)


@every_exercise
def test_a_nan_is_not_equal_to_what_should_have_come(exercise):
    answer = first_accepted(exercise.number)
    changed.clear()
    if exercise.kind == "value":
        answer = in_parts(to_nan, answer)
    elif exercise.kind == "class":
        answer = with_nan_for_weights(answer)
    else:
        answer = with_results(to_nan, answer)
    verdict = verdict_of(exercise.number, answer)
    assert not verdict.passed or not any(changed), verdict
    assert verdict.trouble is None, f"the check itself failed: {verdict.trouble}"


def with_nan_for_weights(answer: Any) -> Any:
    class Spoiled(answer):
        def __init__(self, *inputs: Any):
            super().__init__(*inputs)
            for weight in self.parameters():
                weight.data.fill_(to_nan(0.0))

    return Spoiled


class NanGradient(torch.autograd.Function):
    """Right forward, and nan backward."""

    asked = False

    @staticmethod
    def forward(ctx: Any, values: torch.Tensor) -> torch.Tensor:
        return values.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        NanGradient.asked = True
        return gradient * torch.nan


def with_nan_for_gradients(value: Any) -> Any:
    return NanGradient.apply(value) if isinstance(value, torch.Tensor) and value.requires_grad else value


@pytest.mark.parametrize("exercise", [pytest.param(e, id=named(e)) for e in SHIPPED if e.kind == "function"])
def test_where_a_gradient_is_asked_for_nan_is_none(exercise):
    NanGradient.asked = False
    verdict = verdict_of(exercise.number, with_results(with_nan_for_gradients, first_accepted(exercise.number)))
    assert not (verdict.passed and NanGradient.asked), verdict


@every_exercise
def test_a_stub_is_not_attempted(exercise):
    unwritten = {"function": stub, "class": Stub, "value": ...}[exercise.kind]
    assert verdict_of(exercise.number, unwritten).status == "not attempted yet"


@every_exercise
def test_an_odd_answer_is_refused_without_a_traceback_of_the_checker(exercise):
    for odd in (*ODD, *ODD_TENSORS, None, stub):
        if exercise.kind == "value":
            answer = odd
            if plain(odd) in [plain(right) for right in PROOFS.get(exercise.number, {}).get("accepted", [])]:
                continue
        else:
            answer = returning(odd)
        assert not verdict_of(exercise.number, answer).passed, f"{odd!r} was accepted"


def returning(value: Any) -> Any:
    return lambda *_, **__: value


@every_exercise
def test_a_hint_helps_without_giving_the_answer_away(exercise, monkeypatch):
    monkeypatch.setattr(checking, "hints_given", {})
    assert len(exercise.hints) == 2 and len(set(exercise.hints)) == 2
    assert all(10 <= len(text) <= 400 for text in exercise.hints), "a hint is a sentence or two"
    if exercise.number not in DRILLS:
        assert exercise.hints[0] in hint(exercise.number)


def test_every_module_of_exercises_is_loaded():
    modules = {path.stem for path in CHAPTERS.glob("ch*/exercises/exercise_*.py")}
    found = {e.examine.__module__.rpartition(".")[2] for e in SHIPPED if e.number not in DRILLS and e.chapter < "90"}
    assert modules == found
