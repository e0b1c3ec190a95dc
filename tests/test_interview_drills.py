"""The drills' checks are proven: right answers pass, real mistakes hear the words that explain them.

The answers are in tests/interview_drills/NAME.py: ANSWERS = {"accepted": [two or more], "wrong": [(answer, phrase),
four or more]}.
"""

import importlib.util
import re
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from support.processor_time import yardstick

from bertedu.course import checking
from bertedu.course.rooms import CHAPTERS
from bertedu.interview.drills.register import DRILLS, FOLDER, HOUSEKEEPING, examined

PROOFS_FOLDER = Path(__file__).parent / "interview_drills"
ODD = (0, 1.5, True, "", "a text", [], [1, 2], {}, (1, 2), (None, None), [[None]], torch.zeros(()), torch.zeros(0))


def proof(path: Path) -> dict[str, list]:
    spec = importlib.util.spec_from_file_location(f"answers_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ANSWERS


PROOFS = {path.stem.replace("_", "-"): proof(path) for path in sorted(PROOFS_FOLDER.glob("*.py"))}
every_drill = pytest.mark.parametrize("drill", DRILLS.values(), ids=list(DRILLS))


def answers(kind: str) -> list:
    return [
        pytest.param(name, entry, id=f"{name}-{called(entry[0] if kind == 'wrong' else entry)}")
        for name in DRILLS
        for entry in PROOFS.get(name, {}).get(kind, [])
    ]


def called(answer: Any) -> str:
    return getattr(answer, "__name__", str(answer)[:30])


def of_code(code: str, name: str) -> Any:
    found: dict[str, Any] = {}
    exec(compile(code, f"<{name}>", "exec"), found)
    return found[name]


@pytest.fixture(autouse=True, scope="module")
def imported():
    """The first check imports what checks need: that is no time of the answer's."""
    examined(next(iter(DRILLS)), len)


@pytest.fixture(autouse=True)
def no_times(monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")


def test_every_drill_is_found_in_a_file_of_its_name():
    files = {path.stem for path in FOLDER.glob("*.py")} - HOUSEKEEPING - {"__init__"}
    assert {name.replace("-", "_") for name in DRILLS} == files
    assert set(PROOFS) <= set(DRILLS), "answers to a drill that is gone"


@every_drill
def test_every_check_is_proven(drill):
    proof = PROOFS.get(drill.name, {"accepted": [], "wrong": []})
    accepted, wrong = proof["accepted"], proof["wrong"]
    assert len(accepted) >= 2, "give two right answers, written differently"
    assert len(wrong) >= 4, "give four mistakes that people make"
    assert len({called(answer) for answer in accepted}) == len(accepted), "two right answers share a name"
    assert all(len(phrase.split()) >= 2 for _, phrase in wrong), "a phrase has two words or more"
    assert len({phrase for _, phrase in wrong}) >= 4, "four mistakes hear four different things"


@pytest.mark.parametrize(("name", "answer"), answers("accepted"))
def test_a_right_answer_is_accepted(name, answer):
    before, start = torch.random.get_rng_state(), time.process_time()
    verdict = examined(name, answer)
    assert verdict.passed, f"{verdict}\n{verdict.trouble or ''}"
    assert time.process_time() - start < 25 * yardstick(), "a check has ten seconds, on slower machines too"
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(("name", "entry"), answers("wrong"))
def test_a_mistake_is_refused_and_explained(name, entry, monkeypatch):
    monkeypatch.setattr(checking, "SECONDS", 10 * yardstick())  # some mistakes loop
    answer, phrase = entry
    verdict = examined(name, answer)
    assert verdict.status in ("not yet", "almost"), verdict
    assert verdict.trouble is None, f"the check itself failed: {verdict.trouble}"
    assert phrase in repr(verdict).replace("\n", " "), f"{phrase!r} is not in:\n{verdict}"
    assert repr(verdict) == repr(examined(name, answer)), "the same answer hears two different things"


@every_drill
def test_the_blank_cell_is_not_attempted(drill):
    assert examined(drill.name, of_code(drill.stub, drill.answer)).status == "not attempted yet"


@every_drill
def test_the_solution_that_is_shown_is_accepted(drill):
    verdict = examined(drill.name, of_code(drill.solution, drill.answer))
    assert verdict.passed, f"{verdict}\n{verdict.trouble or ''}"


@every_drill
def test_an_odd_answer_is_refused_without_breaking_the_check(drill):
    for odd in ODD:
        verdict = examined(drill.name, returning(odd))
        assert not verdict.passed, f"{odd!r} was accepted"


def returning(value: Any) -> Any:
    return lambda *_, **__: value


@every_drill
def test_a_task_names_the_signature_of_its_stub(drill):
    (signature,) = re.findall(rf"(?:def|class) ({drill.answer}\b[^:]*):", drill.stub)
    assert signature in drill.task, f"the task shows {signature}"
    assert drill.solution.count(signature) == 1, "the solution has the stub's signature"
    assert max(map(len, drill.task.splitlines())) <= 120


@every_drill
def test_a_drill_points_to_a_section_that_is_there(drill):
    (source,) = CHAPTERS.glob(f"ch{drill.chapter}_*/{drill.chapter}_*.py")
    headings = re.findall(r"^# #+ (.*)$", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert drill.section in headings, f"chapter {drill.chapter} has {headings}"


@every_drill
def test_a_hint_helps_without_giving_the_answer_away(drill):
    assert len(set(drill.hints)) == 2
    assert all(10 <= len(text) <= 400 for text in drill.hints), "a hint is a sentence or two"
