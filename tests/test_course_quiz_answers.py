"""The first attempts at a quiz: kept once, told in the table, collected for a class."""

import json

import pytest

from bertedu.classroom.grading.pages import progress_page
from bertedu.classroom.grading.results import ticks_in
from bertedu.course import quizzes, ticks
from bertedu.course.quiz_answers import first_attempts, keep, keep_answers
from bertedu.course.ticks import progress, remember, solved


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", str(tmp_path / "learner" / "progress.json"))
    monkeypatch.setattr(ticks, "solved_here", set())
    return tmp_path / "learner" / "progress.json"


def test_the_first_attempt_counts(own_file):
    keep(3, '{"2": false}')
    keep(3, '{"2": true, "4": true}')
    assert first_attempts(solved()) == {"3": {2: False, 4: True}}
    assert json.loads(own_file.read_text()) == ["quiz 3.2: wrong", "quiz 3.4: right"]


@pytest.mark.parametrize("told", ["", "{", "[1]", "null", '{"0": true}', '{"x": true}', '{"1": 1}', '{"100": true}'])
def test_nonsense_from_a_page_is_ignored(told):
    keep(3, told)
    assert solved() == set()


def test_a_quiz_is_told_beside_the_exercises():
    remember("3.2")
    keep(3, '{"1": true, "2": false}')
    (line,) = (line for line in repr(progress()).splitlines() if line.startswith("03"))
    assert "✓ 3.2 " in line and "  1 of " in line and line.endswith("quiz 1 of 2 right at once")
    assert "<td>1 of 2</td>" in progress()._repr_html_()


def test_a_class_learns_which_question_was_hard(own_file):
    remember("3.2")
    keep(3, '{"1": true, "2": false}')
    page = progress_page(ticks_in(own_file.parent.parent))
    assert "<th>3.2</th>" in page and "quiz 3" not in page
    assert "<tr><td>learner</td><td>✓</td><td>✗</td></tr>" in page and "<td>1 of 1</td><td>0 of 1</td>" in page


def test_what_the_page_tells_reaches_the_file(monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda *given: shown.extend(given))
    keep_answers(5)
    box, script = shown
    box.value = '{"1": true}'
    assert solved() == {"quiz 5.1: right"}
    assert box._dom_classes[0] in script.data


def test_a_built_notebook_has_a_box_for_answers(monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")
    monkeypatch.setattr("bertedu.course.quiz_answers.keep_answers", lambda chapter: pytest.fail("shown"))
    quizzes.quiz(3)
