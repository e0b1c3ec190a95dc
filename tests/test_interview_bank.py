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
from bertedu.course.rooms import CHAPTERS, room_of
from bertedu.errors import UserError
from bertedu.interview.bank import KINDS, LEVELS, Topic, questions, read_bank

ROOT = Path(data.PACKAGE).parent
SHIPPED = questions(CHAPTERS, ROOT / "data" / "interview")
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
    "section": "Padding",
    "source": "Devlin et al. 2019, section 3",
}


def write(folder: Path, *entries, room="ch03_masks") -> Path:
    """A course with these questions in a room."""
    return write_text(folder, f"question = {toml(entries)}\n", room)


def write_text(folder: Path, text: str, room="ch03_masks") -> Path:
    (folder / room).mkdir(exist_ok=True)
    (folder / room / f"{room.removeprefix('ch')}.py").touch()
    (folder / room / "interview.toml").write_text(text, encoding="utf-8")
    if not (folder / "topics.toml").exists():
        write_topics(folder)
    return folder


def write_topics(folder: Path, text: str = 'titles.masks = "Masks"') -> Path:
    (folder / "topics.toml").write_text(text, encoding="utf-8")
    return folder


def read(folder: Path) -> tuple[Topic, ...]:
    return read_bank(folder, folder)


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


def test_a_good_question_is_read_with_the_chapter_of_its_room_and_the_topic_of_its_id(tmp_path):
    (topic,) = read(write(tmp_path, QUESTION))
    (question,) = topic.questions
    assert (topic.name, topic.title, question.topic, question.chapter) == ("masks", "Masks", "masks", "03")
    assert question.must[1].point == "Point 1." and question.wrong[0].because == "It hides keys."
    assert question.short == (WORDS * 3).strip()


def test_topics_have_the_order_of_their_titles_and_questions_that_of_their_numbers_after_the_basic_ones(tmp_path):
    write_topics(tmp_path, 'first = ["masks-03"]\n[titles]\nsizes = "Sizes"\nmasks = "Masks"')
    write(tmp_path, *(changed(id=one, question=f"{one}?") for one in ("masks-02", "sizes-01")))
    write(tmp_path, *(changed(id=one, question=f"{one}?") for one in ("masks-03", "masks-01")), room="ch04_more")
    topics = [[(one.id, one.chapter) for one in topic.questions] for topic in read(tmp_path)]
    assert topics == [[("sizes-01", "03")], [("masks-03", "04"), ("masks-01", "04"), ("masks-02", "03")]]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (changed(id="masks-1"), "the topic and two digits"),
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
        (changed(section=None, kind=None), "kind, section are missing"),
        (changed(answer="yes"), "there is no 'answer'"),
        (changed(topic="masks"), "there is no 'topic'"),
        (changed(chapter="03"), "there is no 'chapter'"),
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
        read(write(tmp_path, entry))
    assert words in str(error.value) and "ch03_masks/interview.toml, '" in error.value.args[0].replace("\\", "/")


def test_a_fault_of_the_file_is_told_with_its_place(tmp_path):
    for text, words in (
        ("question =\n]", r"interview.toml: .*line 1"),
        ("question = [3]", "interview.toml, question 1: expected a table"),
        (f"question = {'[' * 9000}", "interview.toml: .*no TOML"),
        (f"question = {'9' * 5000}", "interview.toml: .*no TOML"),
        ("question = []", "interview.toml: there is no question"),
        ('title = "Masks"', "a room has"),
    ):
        with pytest.raises(UserError, match=words):
            read(write_text(tmp_path, text))


def test_the_topics_and_the_questions_name_each_other(tmp_path):
    with pytest.raises(UserError, match="no room has questions"):
        read(write_topics(tmp_path))
    write(tmp_path, QUESTION)
    for text, words in (
        ('titles.attention = "Attention"', r"interview.toml: masks-01 has no topic: .* of masks into topics.toml"),
        ('titles = { masks = "Masks", rest = "The rest" }', r"topics.toml: no room asks rest"),
        ('first = ["masks-02"]\ntitles.masks = "Masks"', r"topics.toml: no room asks masks-02"),
        ("titles.masks = 3", r"topics.toml: titles is .*: give a title for each topic"),
        ('masks = "Masks"', r"topics.toml: titles is missing"),
    ):
        with pytest.raises(UserError, match=words):
            read(write_topics(tmp_path, text))


def test_an_id_is_given_once_and_never_again(tmp_path):
    write(tmp_path, QUESTION)
    with pytest.raises(UserError, match=r"ch04_more.interview.toml: the id masks-01 is given twice"):
        read(write(tmp_path, changed(question="Another?"), room="ch04_more"))
    (tmp_path / "retired.toml").write_text('masks-01 = "it was wrong"', encoding="utf-8")
    with pytest.raises(UserError, match=r"ch03_masks.interview.toml: the id masks-01 was retired \(it was wrong\)"):
        read(tmp_path)
    (tmp_path / "retired.toml").write_text("masks-02 = 3", encoding="utf-8")
    with pytest.raises(UserError, match="with its reason"):
        read(tmp_path)


def test_no_question_is_asked_twice_in_the_bank(tmp_path):
    write(tmp_path, QUESTION)
    write(tmp_path, changed(id="masks-02", question="What does a MASK do"), room="ch04_more")
    with pytest.raises(UserError, match=r"ch04_more.interview.toml: masks-02 asks what masks-01 asks"):
        read(tmp_path)


@pytest.mark.parametrize("question", [pytest.param(one, id=one.id) for one in WITH_EVIDENCE])
def test_evidence_prints_what_it_says(question):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(question.evidence.code, question.id, "exec"), {"__name__": "evidence"})
    assert printed.getvalue().strip() == question.evidence.prints.strip()


def headings(chapter: str) -> list[str]:
    (source,) = room_of(chapter).glob(f"{chapter}_*.py")
    return re.findall(r"^# #+ (.*)$", source.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_question_links_to_a_section_of_its_chapter():
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


def test_the_page_of_the_interview_counts_the_questions():
    assert f"\n{len(SHIPPED)} questions, each with" in (ROOT / "docs" / "interview.md").read_text(encoding="utf-8")
