"""Quizzes: each question keeps the rules, and shows the same page on each run."""

import json
import random
import re
from collections import Counter
from copy import deepcopy
from pathlib import Path

import pytest

from bertedu.course import data, quizzes
from bertedu.course.quizzes import quiz, read_quiz, shuffled
from bertedu.course.rooms import CHAPTERS
from bertedu.errors import UserError

SHIPPED = sorted(CHAPTERS.glob("ch*/quiz.json"))

QUESTION = {
    "question": "What does √d keep?",
    "type": "multiple_choice",
    "answers": [
        {"answer": "The spread", "correct": True, "feedback": "Yes."},
        {"answer": "The length", "correct": False, "feedback": "No: nothing is cut."},
        {"answer": "The order", "correct": False, "feedback": "No: nothing is sorted."},
    ],
}


@pytest.mark.parametrize("path", [pytest.param(path, id=path.parent.name) for path in SHIPPED])
def test_every_shipped_quiz_keeps_the_rules(path):
    questions = read_quiz(path)
    assert len({question["question"] for question in questions}) == len(questions), "a question is asked twice"


def write(folder: Path, questions) -> Path:
    path = folder / "03.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    return path


def test_a_good_quiz_is_read(tmp_path):
    assert read_quiz(write(tmp_path, [QUESTION] * 5)) == [QUESTION] * 5


def changed(**changes):
    question = deepcopy(QUESTION)
    for key, value in changes.items():
        place, name = key.split("__") if "__" in key else (None, key)
        (question["answers"][int(place[1:])] if place else question)[name] = value
    return question


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (changed(question="What is $d$?"), "do not render"),
        (changed(a1__feedback="No: \\(d\\)."), "do not render"),
        (changed(a1__feedback=" "), "not empty"),
        (changed(a1__feedback=QUESTION["answers"][2]["feedback"]), "explain each"),
        (changed(a1__answer="The order"), "the same"),
        (changed(a1__correct=True), "one answer is correct"),
        (changed(a0__correct=False), "one answer is correct"),
        (changed(a0__correct=1), "true or false"),
        (changed(type="numeric"), "multiple_choice or many_choice"),
        (changed(answers=[]), "two to six"),
        (changed(hint="x"), "exactly the keys"),
        (changed(a0__hint="x"), "exactly the keys"),
        (changed(type="many_choice", a0__correct=False), "one answer is correct"),
        ("a text", "exactly the keys"),
    ],
)
def test_a_bad_question_is_refused(tmp_path, question, words):
    with pytest.raises(UserError, match=rf"03.json, question 3: .*{words}"):
        read_quiz(write(tmp_path, [QUESTION, QUESTION, question, QUESTION, QUESTION]))


@pytest.mark.parametrize("count", [0, 4, 9])
def test_a_quiz_that_is_too_short_or_too_long_is_refused(tmp_path, count):
    with pytest.raises(UserError, match="5 to 8 questions"):
        read_quiz(write(tmp_path, [QUESTION] * count))


def test_a_damaged_quiz_is_refused_in_words(tmp_path):
    (tmp_path / "03.json").write_text("[{")
    with pytest.raises(UserError, match="line 1"):
        read_quiz(tmp_path / "03.json")


def test_a_quiz_is_the_same_on_each_run_and_takes_no_random_numbers(tmp_path, monkeypatch):
    import jupyterquiz

    write(tmp_path, [QUESTION] * 5).rename(tmp_path / "quiz.json")
    monkeypatch.setattr(quizzes, "room_of", lambda chapter: tmp_path)
    drawn = []
    monkeypatch.setattr(jupyterquiz, "display_quiz", lambda *_, **__: drawn.append(random.random()))
    random.seed(5)
    expected = random.random()
    random.seed(5)
    quiz(3)
    assert random.random() == expected
    quiz(3)
    assert drawn[0] == drawn[1]


def places_of_right_answers(path: Path) -> list[tuple[int, int]]:
    """(place from 0, how many answers) for each question with one right answer, as it is shown."""
    return [
        ([answer["correct"] for answer in question["answers"]].index(True), len(question["answers"]))
        for question in shuffled(read_quiz(path), path.parent.name[2:].partition("_")[0].lstrip("0") or 0)
        if question["type"] == "multiple_choice"
    ]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.parent.name) for path in SHIPPED])
def test_the_right_answer_stands_in_several_places_in_a_chapter(path):
    places = [place for place, _ in places_of_right_answers(path)]
    assert len(set(places)) >= 2 and max(Counter(places).values()) <= 4


def test_the_right_answer_is_not_known_by_its_place():
    shown = [place for path in SHIPPED for place, answers in places_of_right_answers(path) if answers == 4]
    shares = [shown.count(place) / len(shown) for place in range(4)]
    assert len(shown) >= 50 and all(0.15 <= share <= 0.35 for share in shares), shares


def test_shuffling_keeps_every_answer_and_repeats():
    questions = [QUESTION] * 5
    before, state = deepcopy(questions), random.getstate()
    first, second = shuffled(questions, 3), shuffled(questions, 3)
    assert first == second != shuffled(questions, 4) and questions == before and random.getstate() == state
    for question in first:
        assert sorted(question["answers"], key=str) == sorted(QUESTION["answers"], key=str)


def test_the_page_shows_the_shuffled_order(tmp_path, monkeypatch):
    import jupyterquiz

    write(tmp_path, [QUESTION] * 5).rename(tmp_path / "quiz.json")
    monkeypatch.setattr(quizzes, "room_of", lambda chapter: tmp_path)
    shown = []
    monkeypatch.setattr(jupyterquiz, "display_quiz", lambda questions, **_: shown.append(questions))
    quiz(3)
    assert shown == [shuffled([QUESTION] * 5, 3)] and shown != [[QUESTION] * 5]


def test_a_quiz_asks_no_server_for_mathjax(capsys, monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    monkeypatch.setenv("BERTEDU_PROGRESS", "off")
    InteractiveShell.instance()
    try:
        with capture_output() as shown:
            quiz(1)
    finally:
        InteractiveShell.clear_instance()
    page, script = [output.data for output in shown.outputs]
    assert "Quiz" in page["text/html"]
    assert "show_questions" in script[quizzes.SCRIPT] and "MathJax" in script[quizzes.SCRIPT]
    for text in (page["text/html"], script[quizzes.SCRIPT]):
        assert not re.findall(r"(?:src|href|url)\s*[=(:]\s*['\"]?https?:|fetch\(|@import", text)


def test_whole_blocks_are_cut_out_with_mathjax():
    import jupyterquiz

    original = (Path(jupyterquiz.__file__).parent / "js" / "show_questions.js").read_text(encoding="utf-8")
    taken = quizzes.LOADS_MATHJAX.findall(original)
    assert len(taken) == 2
    for block in taken:
        assert block.count("{") == block.count("}") and block.count("(") == block.count(")")
        assert len(block.splitlines()) < 8


def test_a_file_that_does_not_ship_is_refused_in_words(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="there is no chapter 77"):
        quiz(77)
    monkeypatch.setenv("BERTEDU_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"words\.txt is not there"):
        data.data_path("words.txt")
    monkeypatch.delenv("BERTEDU_DATA")
    monkeypatch.setattr(data, "PACKAGE", tmp_path / "site-packages" / "bertedu")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="inside the course's folder"):
        data.data_path("texts")
    (tmp_path / "data" / "texts").mkdir(parents=True)
    assert data.data_path("texts") == tmp_path / "data" / "texts"


def test_a_question_says_where_more_than_one_answer_can_be_right(monkeypatch):
    import jupyterquiz

    shown = []
    monkeypatch.setattr(jupyterquiz, "display_quiz", lambda questions, **_: shown.extend(questions))
    quiz(0)
    told = {question["type"]: question["question"] for question in shown}
    assert told["many_choice"].endswith("(one or more answers are right)")
    assert "answers are right" not in told["multiple_choice"]
