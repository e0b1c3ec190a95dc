"""The page for authors: what it shows works."""

import json
import re
from pathlib import Path

import pytest

from bertedu.course.building.versions import BEGIN, END
from bertedu.course.case import Case
from bertedu.course.checking import check
from bertedu.course.exercise import EXERCISES
from bertedu.course.quizzes import what_is_wrong

TEMPLATE = (Path(__file__).resolve().parents[1] / "bertedu" / "chapters" / "README.md").read_text(encoding="utf-8")


def blocks(language: str, holding: str) -> list[str]:
    found = [code for code in re.findall(rf"```{language}\n(.*?)```", TEMPLATE, flags=re.DOTALL) if holding in code]
    return [code.replace('"3.', '"97.') for code in found]


@pytest.fixture
def example(monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")
    before = dict(EXERCISES)
    for code in blocks("python", "@exercise("):
        exec(code, {})
    yield
    EXERCISES.clear()
    EXERCISES.update(before)


def attend(query, key, value, axis=-1):
    weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(dim=axis)
    return weights @ value, weights


@pytest.mark.parametrize(
    ("number", "answer", "words"),
    [
        ("97.2", attend, "97.2 · yes."),
        ("97.2", lambda q, k, v: attend(q, k, v, axis=-2), "softmax runs over the queries"),
        ("97.2", lambda q, k, v: attend(q * q.size(-1) ** 0.5, k, v), "kept the scores small"),
        ("97.2", lambda q, k, v: attend(q, k, v)[0], "2 things are asked for"),
        ("97.2", lambda q, k, v: (attend(q, k, v)[0].detach(), attend(q, k, v)[1]), "cut off from its inputs"),
        ("97.3", 4.0, "97.3 · yes."),
        ("97.3", 16, "number of keys"),
    ],
)
def test_the_page_shows_a_check_that_works(example, number, answer, words):
    assert words in repr(check(number, answer)).replace("\n", " ")


def test_the_page_shows_a_quiz_that_is_accepted():
    assert all(what_is_wrong(question) is None for question in json.loads(blocks("json", "question")[0]))


def test_the_page_names_only_helpers_that_a_case_has():
    named = set(re.findall(r"`(?:[\w, ]+ = )?case\.(\w+)", TEMPLATE))
    assert {"call", "close", "predicted"} <= named
    assert all(name in ("answer", "generator") or hasattr(Case, name) for name in named)


def test_the_page_shows_the_marks_that_the_engine_reads():
    source = blocks("python", "# %% tags=")[0]
    assert source.count(BEGIN) == source.count(END) == 2
