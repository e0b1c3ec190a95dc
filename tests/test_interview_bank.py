"""The question bank: every question keeps the rules, every piece of evidence proves what it says."""

import contextlib
import io
import json
import re
from copy import deepcopy
from pathlib import Path

import pytest
from support.faults import assert_none

from bertedu.course import data
from bertedu.errors import UserError
from bertedu.interview.bank import KINDS, LEVELS, questions, read_bank

ROOT = Path(data.PACKAGE).parent
SHIPPED = questions(ROOT / "data" / "interview")
WITH_EVIDENCE = [question for question in SHIPPED.values() if question.evidence]

WORDS = "A sentence that says a little about one thing, so that the answer is long enough. "
QUESTION = {
    "id": "masks-01",
    "kind": "explain",
    "level": "screen",
    "minutes": 3,
    "question": "What does a mask do?",
    "short": WORDS * 3,
    "long": WORDS * 10,
    "must": [{"point": f"Point {place}.", "ask": "And?"} for place in range(3)],
    "wrong": [{"said": "It hides queries.", "because": "It hides keys."}],
    "chapter": "03",
    "section": "Padding",
    "source": "Devlin et al. 2019, section 3",
}


def write(folder: Path, *entries, name="masks.toml") -> Path:
    (folder / name).write_text(f'title = "Masks"\nquestion = {toml(entries)}\n', encoding="utf-8")
    return folder


def toml(value) -> str:
    """A value as TOML, whose texts, numbers and lists are written as in JSON."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {toml(inner)}' for name, inner in value.items())} }}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list | tuple) else json.dumps(value)


def changed(**changes):
    """The good question with something else in it; None takes the key away, must0__ask goes one level down."""
    entry = deepcopy(QUESTION)
    for key, value in changes.items():
        name, _, inner = key.partition("__")
        of, last = (entry, name) if not inner else (entry[name[:-1]][int(name[-1])], inner)
        if value is None:
            del of[last]
        else:
            of[last] = value
    return entry


def test_a_good_question_is_read(tmp_path):
    (topic,) = read_bank(write(tmp_path, QUESTION))
    (question,) = topic.questions
    assert (topic.name, topic.title, question.topic) == ("masks", "Masks", "masks")
    assert question.must[1].point == "Point 1." and question.wrong[0].because == "It hides keys."
    assert question.short == (WORDS * 3).strip()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (changed(id="mask-01"), "the topic and two digits"),
        (changed(kind="riddle"), "choose one of explain"),
        (changed(level="junior"), "choose one of screen"),
        (changed(minutes=90), "minutes is 90"),
        (changed(minutes="3"), "minutes is '3': give a whole number"),
        (changed(minutes=True), "minutes is True"),
        (changed(short="No."), "short has 1 words"),
        (changed(short=WORDS * 9), "half a minute"),
        (changed(long=WORDS), "about two minutes"),
        (changed(must=[{"point": "One.", "ask": "And?"}]), "must has 1 points"),
        (changed(must1__point="point 0"), "a point is there twice"),
        (changed(must0__ask=None), "must 1: ask is missing"),
        (changed(must0__ask=" "), "must 1: ask is empty"),
        (changed(must="all"), "must is 'all': give a list"),
        (changed(wrong=[]), "wrong is empty"),
        (changed(wrong0__why="it"), "there is no 'why'"),
        (changed(source=None), "give evidence"),
        (changed(section=None, chapter=None), "chapter, section are missing"),
        (changed(answer="yes"), "there is no 'answer'"),
        (changed(topic="masks"), "there is no 'topic'"),
        (changed(chapter="3"), "chapter is '3': write two digits"),
        (changed(bonus=["x", 3]), "give a list of texts"),
        (changed(bonus=[""]), "bonus is empty"),
        (changed(reviewed="today"), "give a date"),
        (changed(evidence={"code": "1\n" * 17, "prints": "1"}), "over 16 lines"),
        (changed(evidence={"code": "1"}), "evidence: prints is missing"),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_a_question_that_breaks_a_rule_is_refused(tmp_path, entry, words):
    with pytest.raises(UserError) as error:
        read_bank(write(tmp_path, entry))
    assert words in str(error.value) and "masks.toml, '" in str(error.value)


def test_a_fault_of_the_file_is_told_with_its_place(tmp_path):
    with pytest.raises(UserError, match="no questions"):
        read_bank(tmp_path)
    (tmp_path / "masks.toml").write_text('title = "Masks"\nquestion = ]', encoding="utf-8")
    with pytest.raises(UserError, match=r"masks.toml: .*line 2"):
        read_bank(tmp_path)
    (tmp_path / "masks.toml").write_text('title = "Masks"\nquestion = [3]', encoding="utf-8")
    with pytest.raises(UserError, match=r"masks.toml, question 1: expected a table"):
        read_bank(tmp_path)
    for broken in (f"title = {'[' * 9000}", f"title = {'9' * 5000}"):
        (tmp_path / "masks.toml").write_text(broken, encoding="utf-8")
        with pytest.raises(UserError, match=r"masks.toml: .*no TOML"):
            read_bank(tmp_path)
    with pytest.raises(UserError, match=r"masks.toml: there is no question"):
        read_bank(write(tmp_path))
    (tmp_path / "masks.toml").write_text('titel = "Masks"', encoding="utf-8")
    with pytest.raises(UserError, match="a topic has a title"):
        read_bank(tmp_path)


def test_an_id_is_given_once_and_never_again(tmp_path):
    with pytest.raises(UserError, match="given twice"):
        read_bank(write(tmp_path, QUESTION, changed(question="Another?")))
    (tmp_path / "retired.toml").write_text('masks-01 = "it was wrong"', encoding="utf-8")
    with pytest.raises(UserError, match=r"masks-01 was retired \(it was wrong\)"):
        read_bank(write(tmp_path, QUESTION))
    (tmp_path / "retired.toml").write_text("masks-02 = 3", encoding="utf-8")
    with pytest.raises(UserError, match="with its reason"):
        read_bank(tmp_path)


def test_no_question_is_asked_twice_in_the_bank(tmp_path):
    again = changed(id="more-01", question="What does a MASK do")
    write(tmp_path, again, name="more.toml")
    with pytest.raises(UserError, match="more-01 asks what masks-01 asks"):
        read_bank(write(tmp_path, QUESTION))


@pytest.mark.parametrize("question", [pytest.param(one, id=one.id) for one in WITH_EVIDENCE])
def test_evidence_prints_what_it_says(question):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(question.evidence.code, question.id, "exec"), {"__name__": "evidence"})
    assert printed.getvalue().strip() == question.evidence.prints.strip()


def headings(chapter: str) -> list[str]:
    (source,) = (ROOT / "bertedu" / "chapters").glob(f"ch{chapter}_*/{chapter}_*.py")
    return re.findall(r"^# #+ (.*)$", source.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_question_links_to_a_section_that_is_there():
    sections = {chapter: headings(chapter) for chapter in {question.chapter for question in SHIPPED.values()}}
    assert_none(
        f"{one.id} links to {one.section!r} of chapter {one.chapter}, which is there not once"
        for one in SHIPPED.values()
        if sections[one.chapter].count(one.section) != 1
    )


def test_the_bank_serves_all_kinds_of_interviews():
    assert {question.kind for question in SHIPPED.values()} == set(KINDS)
    assert {question.level for question in SHIPPED.values()} == set(LEVELS)


def test_evidence_is_narrow_enough_to_be_read_without_scrolling():
    assert_none(
        f"{one.id}: {line}" for one in WITH_EVIDENCE for line in one.evidence.code.splitlines() if len(line) > 96
    )


def test_the_readme_counts_the_questions():
    assert f"\n{len(SHIPPED)} questions, each with" in (ROOT / "README.md").read_text(encoding="utf-8")
