"""Design cases: what the reader of the files refuses, the arithmetic, and a case in a notebook and in the terminal."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from ipywidgets import Button, Checkbox, Dropdown

from bertedu.cli import main
from bertedu.course.loading import all_chapters
from bertedu.errors import UserError
from bertedu.interview.case_session import CaseSession
from bertedu.interview.cases import find_case, read_cases
from bertedu.interview.designing import Designing, design

ROOT = Path(__file__).resolve().parents[1]
CASES = read_cases()
STAGES = [pytest.param(stage, id=f"{case.name}-{stage.title}") for case in CASES.values() for stage in case.stages]
LONGEST_ANSWER = 200  # words: what an interviewer listens to without a question


def text_of(name: str) -> str:
    return (ROOT / "data" / "interview" / "cases" / f"{name}.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('level = "onsite"', 'level = "hard"', "level is 'hard'"),
        ("minutes = 40", "minutes = 4", "minutes is 4: give 20 to 60"),
        ("minutes = 40", 'minutes = "40"', "give a whole number"),
        ("minutes = 40", "", "minutes is missing"),
        ("needed = true", "needed = 1", "give true or false"),
        ("needed = true", "important = true", "there is no 'important'"),
        ("needed = true\n", "", "mark those that are needed"),
        ('title = "The switch"', 'title = ""', "title is empty"),
        ('chapters = ["10", "16"]', 'chapters = ["10", "6"]', "chapters has '6'"),
        ("[stages.evidence]", "[stages.proof]", "there is no 'proof'"),
        ("[[rubric]]", "[[rubrics]]", "rubric is missing"),
        ("level =", 'name = "other"\nlevel =', "there is no 'name'"),
    ],
)
def test_a_fault_of_a_case_is_refused(before, after, said, tmp_path):
    text = text_of("instead-of-an-llm")
    assert before in text
    count = -1 if before in ("needed = true\n", "[[rubric]]") else 1
    (tmp_path / "broken.toml").write_text(text.replace(before, after, count), encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(said)) as raised:
        read_cases(tmp_path)
    assert "broken.toml" in str(raised.value)


def test_a_case_without_arithmetic_or_with_too_few_stages_is_refused(tmp_path):
    text = text_of("instead-of-an-llm")
    without = re.sub(r"\[stages.evidence\].*?(?=\n\[\[)", "", text, flags=re.DOTALL)
    (tmp_path / "a.toml").write_text(without, encoding="utf-8")
    with pytest.raises(UserError, match="no stage has evidence"):
        read_cases(tmp_path)
    shorter = re.sub(r"\[\[stages\]\]\ntitle = \"The switch\".*?(?=\[\[rubric)", "", text, flags=re.DOTALL)
    (tmp_path / "a.toml").write_text(shorter, encoding="utf-8")
    with pytest.raises(UserError, match="at least 4 stages"):
        read_cases(tmp_path)
    with pytest.raises(UserError, match="there are no cases"):
        read_cases(tmp_path / "nowhere")


@pytest.mark.parametrize("stage", STAGES)
def test_the_arithmetic_of_a_case_is_right_and_no_answer_is_a_lecture(stage):
    assert len(stage.answer.split()) <= LONGEST_ANSWER
    if stage.evidence:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(stage.evidence.code, stage.title, "exec"), {"__name__": "evidence"})
        assert printed.getvalue().strip() == stage.evidence.prints.strip()
        assert not [line for line in stage.evidence.code.splitlines() if len(line) > 96]


def test_there_are_six_cases_at_least_and_every_chapter_is_there():
    assert len(CASES) >= 6
    chapters = set(all_chapters())
    assert {chapter for case in CASES.values() for chapter in case.chapters} <= chapters


def test_a_case_that_is_not_there_is_told_in_words():
    with pytest.raises(UserError, match="there is no case 'search': choose one of a-domain-of-its-own"):
        find_case("search")


# Going through one ---------------------------------------------------------------------------------------------------


def test_points_and_facts_are_counted_rightly():
    session = CaseSession(CASES["instead-of-an-llm"])
    told, missed = session.ask({0, 4})
    assert [fact.ask[:8] for fact in told] == ["How many", "Are the "] and len(missed) == 4
    with pytest.raises(UserError, match="points 1 to 4, and not 5"):
        session.done({4})
    for stage in range(4):
        session.done({0, 1} if stage else {0, 1, 2, 3}, late={1, 2})
    assert session.said == [1.0, 0.625, 0.625, 0.625], "a point after its follow-up counts half, and none counts twice"
    assert session.current is None
    with pytest.raises(UserError, match="the case is over"):
        session.done({0})
    session.earn(0, 0)  # chosen anew below
    for line, points in enumerate((2, 1, 0, 2)):
        session.earn(line, points)
    with pytest.raises(UserError, match="2, 1 or 0"):
        session.earn(0, 3)
    rows = dict(session.summary())
    assert rows["needed facts that you asked for"] == "2 of 6" and rows["the rubric"] == "5 of 8"
    assert rows["The switch"] == "62%"


def words(screen: Designing) -> str:
    return " ".join(getattr(part, "value", "") for part in screen.box.children if hasattr(part, "placeholder"))


def boxes(screen: Designing) -> list[Checkbox]:
    return [part for part in screen.box.children if isinstance(part, Checkbox)]


def press(screen: Designing) -> None:
    (button,) = [part for part in screen.box.children if isinstance(part, Button)]
    button.click()


def test_facts_are_told_when_they_are_asked_for_and_the_case_ends():
    case = CASES["moderation"]
    screen = Designing(CaseSession(case))
    assert not boxes(screen) and "1.5 %" not in words(screen)
    press(screen)
    assert [box.description for box in boxes(screen)] == [fact.ask for fact in case.facts]
    boxes(screen)[1].value = True
    press(screen)
    asked, needed = words(screen).split("You need to know these too")
    assert "50 milliseconds at" in asked and "1.5 %" in needed and "up to 2,000 characters" not in needed
    press(screen)
    for stage in case.stages:
        assert "<strong>" in words(screen) and stage.must[0].point not in words(screen)
        press(screen)
        for box in boxes(screen)[1:]:
            box.value = True
        press(screen)
        assert [box.description for box in boxes(screen)] == [stage.must[0].ask]
        assert "A good answer" in words(screen) and ("It prints" in words(screen)) == (stage.evidence is not None)
        press(screen)
    for choice in (part for part in screen.box.children if isinstance(part, Dropdown)):
        choice.value = 2
    press(screen)
    assert "10 of 10" in words(screen) and "75%" in words(screen) and "Chapters to read: 10" in words(screen)
    assert not [part for part in screen.box.children if isinstance(part, Button)]


def test_a_page_without_a_kernel_shows_the_case():
    data, _ = design("redaction")._repr_mimebundle_()
    assert "Names and numbers out of medical letters" in data["text/plain"] and "20 million" in data["text/html"]


def test_the_terminal_tells_what_the_notebook_tells():
    stages = "".join("\n1\n" + "y\n" * (len(stage.must) - 1) for stage in CASES["intents"].stages)
    done = CliRunner().invoke(main, ["interview", "case", "intents"], input=f"\n1 4\n{stages}2\n1\n0\n5\n1\n")
    assert done.exit_code == 0, done.output
    stopped = CliRunner().invoke(main, ["interview", "case", "intents"], input=f"\n1 4\n{stages[:-2]}")
    assert stopped.exit_code == 130 and "62%  One model or twenty" in stopped.output, "what was said is lost by Ctrl-C"
    assert "4 of 8  the rubric" in done.output and "2 of 5  needed facts" in done.output
    assert "62%  One model or twenty" in done.output and "278 million" in done.output
    listed = CliRunner().invoke(main, ["interview", "case"])
    assert all(name in listed.output for name in CASES)
