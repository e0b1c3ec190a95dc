"""Choosing questions, asking them, and writing them as flashcards."""

import csv
import random
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner
from support.interview_questions import QUESTION, topics

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.interview import bank
from bertedu.interview.anki import HEAD, card, write_anki
from bertedu.interview.bank import LEVELS, Evidence, Topic, read_bank
from bertedu.interview.book import book
from bertedu.interview.choosing import FOR_THE_MOCK, HOURS, minutes_to_practise, mock_questions, plan
from bertedu.interview.session import Session


def test_a_mock_interview_takes_the_time_that_it_says():
    for minutes in (5, 30, 45):
        chosen = mock_questions(topics(20, 20, 20), minutes, seed=1)
        assert minutes - 3 < sum(question.minutes for question in chosen) <= minutes


def test_a_mock_interview_asks_every_topic_before_one_comes_again():
    for seed in range(10):
        chosen = mock_questions(topics(20, 20, 20), 15, seed)
        counts = [sum(question.topic == f"t{topic}" for question in chosen) for topic in range(3)]
        assert sorted(counts) == [1, 2, 2]


def test_no_long_design_takes_half_of_a_mock_interview():
    for seed in range(20):
        for minutes in (5, 30, 45, 60):
            chosen = mock_questions(read_bank(), minutes, seed)
            assert chosen and max(question.minutes for question in chosen) <= max(5, minutes // 3)


def test_a_seed_asks_the_same_questions_on_another_day():
    both = topics(20, 20)
    state = random.getstate()
    assert mock_questions(both, 30, 4) == mock_questions(both, 30, 4)
    assert mock_questions(both, 30, 4) != mock_questions(both, 30, 5)
    assert random.getstate() == state


def test_a_mock_interview_begins_with_the_easy_questions():
    levels = [LEVELS.index(question.level) for question in mock_questions(topics(20, 20), 45, 0)]
    assert levels == sorted(levels) and len(set(levels)) == 3


@pytest.mark.parametrize("hours", HOURS)
def test_a_plan_takes_no_more_than_its_hours(hours):
    steps = plan(topics(120, 120, 120), hours)
    minutes = 60 * hours - FOR_THE_MOCK[hours]
    assert minutes - 5 < sum(step.minutes for step in steps) <= minutes
    assert len({step.question.id for step in steps}) == len(steps)
    levels = [LEVELS.index(step.question.level) for step in steps]
    assert levels == sorted(levels)


def test_the_minutes_of_a_question_count_speaking_and_reading():
    # 60 words said at 150 a minute, and 60 + 220 + 5 + 4 × (2 + 3) + 3 + 3 words read at 220
    assert minutes_to_practise(QUESTION) == pytest.approx(60 / 150 + (280 + 5 + 20 + 6) / 220)


def test_impossible_hours_and_minutes_are_refused_in_words():
    with pytest.raises(UserError, match="choose one of 1, 3, 10"):
        plan(topics(3), 2)
    with pytest.raises(UserError, match="give 5 to 240"):
        mock_questions(topics(3), 0, 0)


def test_a_missed_point_asks_its_own_follow_up():
    session = Session([QUESTION])
    assert session.follow_ups({0, 2}) == {1: "What about 1?", 3: "What about 3?"}
    assert session.current is QUESTION, "asking does not go on"


def test_points_are_counted_rightly():
    first, second = QUESTION, replace(QUESTION, id="heads-01", topic="heads", section="Heads")
    session = Session([first, second])
    session.done({0, 1}, {2})
    session.done({0, 1, 2}, {2, 3})  # a point that was said at once does not count again
    assert session.current is None
    assert session.by_topic() == {"masks": pytest.approx(2.5 / 4), "heads": pytest.approx(3.5 / 4)}
    assert list(session.by_topic()) == ["masks", "heads"] and session.to_read() == [("03", "Padding")]
    with pytest.raises(UserError, match="over"):
        session.done({0})


def test_what_was_missed_most_is_read_first_and_once():
    session = Session([replace(QUESTION, section=section) for section in ("Half", "None", "None", "All")])
    for said in ({0, 1}, (), (), {0, 1, 2, 3}):
        session.done(said)
    assert session.to_read() == [("03", "None"), ("03", "Half")]


def test_a_point_that_is_not_there_is_refused():
    for points in ({4}, {-1}):
        with pytest.raises(UserError, match="points 1 to 4"):
            Session([QUESTION]).done(points)


def test_a_flashcard_keeps_its_identity_and_its_line(tmp_path):
    question = replace(QUESTION, short="Two\nlines\tand <b>", question="Why\t<a>?")
    identity, front, back, tags = card(question).split("\t")
    assert identity == "masks-01" and tags == "masks screen explain"
    assert front == "<p>Why &lt;a&gt;?</p>"
    assert "Two lines and &lt;b&gt;" in back and "&lt;queries&gt;" in back and "\n" not in back
    path = tmp_path / "cards.txt"
    assert write_anki([question, QUESTION], path) == 2
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[: len(HEAD)] == list(HEAD) and len(lines) == len(HEAD) + 2


def test_the_shipped_bank_makes_a_table_of_cards(tmp_path):
    found = [question for topic in read_bank() for question in topic.questions]
    write_anki(found, tmp_path / "cards.txt")
    with (tmp_path / "cards.txt").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader((line for line in file if line[0] != "#"), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [row[0] for row in rows] == [question.id for question in found] and {len(row) for row in rows} == {4}


def test_the_book_has_every_part_of_a_question_and_fetches_nothing():
    question = replace(QUESTION, evidence=Evidence("print(1 < 2)", "True"), source="A & B", bonus=("More.",))
    page = book([Topic("masks", "Masks", (question,))])
    for part in ("What does a mask do?", "Point 3.", "What about 3?", "&lt;queries&gt;", "print(1 &lt; 2)", "More."):
        assert part in page
    assert "A &amp; B" in page and "Chapter 03, “Padding”" in page and "href='#masks'" in page
    assert "http" not in page and "src=" not in page and "<script" not in page


# At the command line ------------------------------------------------------------------------------------------------


def run(*arguments: str, typed: str | None = None):
    return CliRunner().invoke(main, ["interview", *arguments], input=typed)


def test_the_command_line_asks_and_counts(monkeypatch):
    monkeypatch.setattr(bank, "read_bank", lambda: tuple(topics(1, 1)))
    done = run("mock", "--minutes", "6", typed="\n9\n1 2\ny\nn\n\n1,2 3 4\n")
    assert done.exit_code == 0, done.output
    assert "6 minutes, questions: 2." in done.output and "Type numbers from 1 to 4" in done.output
    assert "Follow-up: What about 2?" in done.output and "In half a minute: word" in done.output
    shares = re.findall(r"^ *(\d+%)  Topic \d$", done.output, flags=re.MULTILINE)
    assert shares == ["62%", "100%"] and done.output.rstrip().endswith("chapter 03, “0”")


def test_what_was_answered_before_ctrl_c_is_kept(monkeypatch):
    monkeypatch.setattr(bank, "read_bank", lambda: tuple(topics(1, 1)))
    done = run("mock", "--minutes", "6", typed="\n1 2\ny\nn\n\n")  # the input ends, which is told as Ctrl-C is
    assert done.exit_code == 130 and len(re.findall("62%  Topic", done.output)) == 1, done.output
    assert "Topic" not in run("mock", "--minutes", "6", typed="\n").output, "nothing was answered"


def test_a_plan_is_printed_and_the_cards_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run("plan", "--hours", "1")
    assert printed.exit_code == 0 and "minutes: read the question" in printed.output
    written = run("export", "--format", "anki", "--output", "cards.txt")
    assert written.exit_code == 0 and (tmp_path / "cards.txt").exists()
    assert run("export", "--format", "html").exit_code == 0 and (tmp_path / "bert-interview.html").exists()
