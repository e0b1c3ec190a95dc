"""Texts that break what they are written into: each spoils at most its own line, in pages, tables and the gradebook."""

import csv
import io
import json
import os
import re

import pytest
from nbgrader.api import Gradebook
from support.hand_ins import FILE, RIGHT, hand_in, notebook

from bertedu.classroom.assignment_file import AssignedExercise, AssignedNotebook, Assignment
from bertedu.classroom.assignment_nbgrader import in_its_way
from bertedu.classroom.grading import results
from bertedu.classroom.grading.gradebook import into_gradebook
from bertedu.classroom.grading.grading import Class, Graded, grade
from bertedu.classroom.grading.results import as_csv, harmless, write_results
from bertedu.classroom.grading.submissions import Submission
from bertedu.files import write_text

HOSTILE = {
    "half a character": "\ud800 and \udfff",
    "nul": "a\0b",
    "huge": "x" * 400_000,
    "ansi": "\x1b[2J\x1b]0;title\x07",
    "bidi": "\u202egnp.exe\u2066",
    "html": "</pre></section><script>alert(1)</script><img src=x onerror=alert(1)>",
    "template": "{{ 7 * 7 }}{% raw %}",
    "lines": "one\r\ntwo\rthree\u2028four\x85five",
    "bytes": b"\xff\xfe".decode("utf-8", "surrogateescape"),
}
FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\ufeff=1", "＝1", "＠a"]
EXERCISE = AssignedExercise("3.3", "Heads", "function", 2, 2.0, FILE, "answer-3-3", "check-3-3", "merge_heads")


def made_of(texts: dict[str, str]) -> Class:
    """A class in which each student's name, answer and verdict have one of the texts; and Zoe, whose have none."""
    assignment = Assignment(
        "heads", "0.1.0", ("03",), False, None, 0.0, (AssignedNotebook("03", FILE, "0"),), (EXERCISE,)
    )
    submissions, answers = {}, []
    for name, text in texts.items():
        student = f"{name} {text[:30]}"
        submissions[student] = Submission(student, {FILE: {}}, [f"trouble {text}"])
        answers.append(Graded(student, EXERCISE, "not yet", (f"said {text}",), f"source {text}", 0.0, [f"look {text}"]))
    submissions["zoe"] = Submission("zoe", {FILE: {}})
    answers.append(Graded("zoe", EXERCISE, "yes", ("Right.",), RIGHT, 2.0))
    return Class(
        assignment, submissions, answers, unused={f"file {text[:99]}": f"why {text}" for text in texts.values()}
    )


def test_no_text_of_a_student_stops_or_changes_the_pages_of_others(tmp_path):
    made = made_of(HOSTILE)
    write_results(made, tmp_path / "a.csv")
    pages = {path.name: path.read_bytes().decode() for path in (tmp_path / "a.pages").rglob("*.html")}
    assert len(pages) == 1 + len(made.submissions) and "Right." in pages["zoe.html"]
    for name, text in pages.items():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", text), name
        assert "<script" not in text and "<img" not in text and ("{{ 7" in text or "49" not in text), name
    assert all(f"said {words}" in pages["class.html"] for words in (r"\ud800", r"a\x00b", r"\x1b[2J", "&lt;/pre&gt;"))
    assert r"\ud800 and \udfff" in next(text for name, text in pages.items() if name.startswith("half"))


def test_each_answer_is_one_line_of_the_table_whatever_it_says(tmp_path):
    made = made_of(HOSTILE)
    write_results(made, tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_bytes().decode()
    head, *rows = csv.reader(io.StringIO(text))
    assert len(rows) == len(made.answers) and all(len(row) == len(head) for row in rows)
    assert rows[-1][:4] == ["zoe", "3.3", "yes", "2"]
    assert all(len(cell) < 32_767 for row in rows for cell in row), "a spreadsheet cuts such a cell in two"


@pytest.mark.parametrize("text", FORMULAS)
def test_no_spreadsheet_takes_a_text_for_a_formula(text):
    assert harmless(text).startswith("'")
    made = made_of({"x": ""})
    made.answers[0].student, made.answers[0].lines, made.answers[0].look = text, (text,), [text]
    row = list(csv.reader(io.StringIO(as_csv(made))))[1]
    for place in (0, 5, 6):  # the student, what was said, why to look
        assert not row[place].strip().startswith(("=", "+", "-", "@", "＝", "＠")), row


@pytest.mark.parametrize("text", ["fine", "3.3", "a=b", "two - three", ""])
def test_an_ordinary_text_stays_as_it_is_in_the_table(text):
    assert harmless(text) == text


def test_a_page_that_cannot_be_made_is_named_and_stops_no_other(tmp_path, monkeypatch):
    page = results.student_page
    monkeypatch.setattr(results, "student_page", lambda made, name: 1 / 0 if name == "bad " else page(made, name))
    lines = write_results(made_of({"bad": "", "good": ""}), tmp_path / "a.csv")
    assert "The page of bad  could not be made (ZeroDivisionError: division by zero)." in lines
    assert {path.name for path in (tmp_path / "a.pages" / "students").iterdir()} == {"good.html", "zoe.html"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="answers are graded on Linux and macOS")
def test_answers_that_raise_hostile_texts_are_graded_and_shown(assigned, tmp_path):
    for name, text in HOSTILE.items():
        hand_in(tmp_path / "in", name, notebook(f"def merge_heads(x):\n    raise ValueError({text!a})"))
        hand_in(tmp_path / "in", f"{name} as it is", notebook(f"def merge_heads(x):\n    return '''{text}'''"))
    hand_in(tmp_path / "in", "zoe", notebook(RIGHT))
    store = tmp_path / "a.answers.jsonl"
    made = grade(assigned, tmp_path / "in", store)
    write_results(made, tmp_path / "a.csv")
    assert {one.student for one in made.answers if one.points} == {"zoe"}
    assert len(list((tmp_path / "a.pages" / "students").iterdir())) == 2 * len(HOSTILE) + 1
    kept = [json.loads(line) for line in store.read_bytes().decode("ascii").splitlines() if line]
    assert len({one["key"] for one in kept}) == len(kept)
    half = next(one for one in made.answers if one.student == "half a character")
    assert "\ud800" in half.said or r"\ud800" in half.said, "the text itself must have come as far as the page"


def test_a_damaged_line_of_what_was_graded_before_costs_one_answer(assigned, tmp_path):
    for name in ("ann", "bob"):
        hand_in(tmp_path / "in", name, notebook(f"{RIGHT}  # {name}"))
    store = tmp_path / "a.answers.jsonl"
    first, second = (one.key for one in grade(assigned, tmp_path / "in", store).answers)
    for damage in ({"lines": 3, "status": "yes", "missing": []}, {"status": "yes"}, [], "yes", 7):
        kept = [{"key": first, "result": damage}]
        kept.append({"key": second, "result": {"status": "yes", "lines": ["Right."], "missing": []}})
        write_text(store, "\n".join(map(json.dumps, kept)))
        ann, bob = grade(assigned, tmp_path / "in", store).answers
        assert (ann.verdict, ann.points, bob.points) == ("please look", 0, 2), damage


def gradebook(path) -> None:
    with in_its_way(), Gradebook(f"sqlite:///{path}") as book:
        book.add_assignment("heads")
        book.add_notebook(FILE[:-6], "heads")
        book.add_grade_cell("check-3-3", FILE[:-6], "heads", max_score=2, cell_type="code")
        book.add_solution_cell("answer-3-3", FILE[:-6], "heads")


def test_please_look_reaches_the_gradebook_as_to_be_graded_by_hand(tmp_path):
    gradebook(tmp_path / "gradebook.db")
    made = made_of({})
    for student, verdict in {"ann": "please look", "bob": "not yet"}.items():
        made.submissions[student] = Submission(student, {FILE: {}})
        made.answers.append(Graded(student, EXERCISE, verdict, ("Told.",), "x"))
    assert into_gradebook(made, tmp_path / "gradebook.db") == 3
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        for student, by_hand in {"ann": True, "bob": False, "zoe": False}.items():
            found = book.find_grade("check-3-3", FILE[:-6], "heads", student)
            assert found.needs_manual_grade is by_hand, student
            assert book.find_submission("heads", student).needs_manual_grade is by_hand


def test_a_hostile_text_spoils_at_most_its_own_comment_in_the_gradebook(tmp_path):
    gradebook(tmp_path / "gradebook.db")
    made = made_of(HOSTILE)
    for one, (name, own) in zip(made.answers, list(made.submissions.items()), strict=True):
        plain = name.partition(" ")[0]  # names come from paths, which have been made readable
        del made.submissions[name]
        made.submissions[plain], one.student = own, plain
    assert into_gradebook(made, tmp_path / "gradebook.db") == len(made.submissions)
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert book.find_submission("heads", "zoe").score == 2
        comment = book.find_comment("answer-3-3", FILE[:-6], "heads", "half")
        assert r"\ud800 and \udfff" in comment.manual_comment
