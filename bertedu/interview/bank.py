"""The question bank: interview.toml in the room of each chapter, the questions that it answers, read strictly.

A question holds what an interviewer listens for: the points that must be said, what people say wrongly and why it is
wrong, and evidence, which is code whose output proves the answer, or the source that it stands in.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bertedu.course.data import data_path
from bertedu.course.rooms import CHAPTERS, number_of, sources_in
from bertedu.errors import UserError, shown
from bertedu.interview.records import parse_toml, record

KINDS = ("explain", "derive", "estimate", "compare", "debug", "design", "code")
LEVELS = ("screen", "onsite", "senior")
WORDS_A_MINUTE = 150  # of a person who explains something aloud
SHORT = (30, 85)  # words in an answer of about 30 seconds
LONG = (130, 330)  # words in an answer of about two minutes
POINTS = (3, 6)  # points that must be said
MOST_LINES_OF_EVIDENCE = 16
QUESTIONS = "interview.toml"  # of a room
TOPICS = "topics.toml"
RETIRED = "retired.toml"  # the ids that were given once and may not be given again


@dataclass(frozen=True)
class Point:
    """What must be said, and what an interviewer asks if it was not."""

    point: str
    ask: str


@dataclass(frozen=True)
class Wrong:
    """What people say, and why it is wrong."""

    said: str
    because: str


@dataclass(frozen=True)
class Evidence:
    """A few lines of code, and the lines that they print. A test runs them."""

    code: str
    prints: str


@dataclass(frozen=True)
class Question:
    """One question of the bank.

    short is the answer in about 30 seconds, long in about two minutes, minutes the time that the question takes in an
    interview, follow-ups included. topic is the id without its number, chapter the room's number, section a heading of
    that chapter as the reader sees it. reviewed is the day on which somebody last looked up the facts that age, where
    the answer has such facts.
    """

    id: str
    topic: str
    kind: str
    level: str
    minutes: int
    question: str
    short: str
    long: str
    must: tuple[Point, ...]
    wrong: tuple[Wrong, ...]
    chapter: str
    section: str
    bonus: tuple[str, ...] = ()
    evidence: Evidence | None = None
    source: str | None = None
    reviewed: date | None = None


@dataclass(frozen=True)
class Contents:
    """What topics.toml says: the titles of the topics by name, in order, and the ids that come first in their topic."""

    titles: dict[str, str]
    first: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topic:
    """What questions of several chapters are about, and these questions, the most basic ones first, then by number."""

    name: str
    title: str
    questions: tuple[Question, ...]


def read_bank(chapters: Path = CHAPTERS, folder: str | Path | None = None) -> tuple[Topic, ...]:
    """All topics, in the order of topics.toml, with the questions of all rooms.

    folder has topics.toml and retired.toml; without one, data/interview. Raises UserError, which names the file and the
    question, for one that breaks a rule: a key that is missing, unknown or of the wrong type, a point or an answer too
    many or too few, an id that is given twice or was retired, and a question with neither evidence nor source.
    """
    folder = data_path("interview") if folder is None else Path(folder)
    contents = record(Contents, parse_toml(folder / TOPICS), str(folder / TOPICS))
    retired = retired_ids(folder / RETIRED) if (folder / RETIRED).exists() else {}
    found: dict[str, Question] = {}
    seen: dict[str, str] = {}
    for path, question in questions_in(chapters):
        text = seen.setdefault(plain(question.question), question.id)
        if question.id in found:
            raise UserError(f"{path}: the id {question.id} is given twice: give each question its own.")
        if question.id in retired:
            raise UserError(f"{path}: the id {question.id} was retired ({retired[question.id]}): give a new one.")
        if text != question.id:
            raise UserError(f"{path}: {question.id} asks what {text} asks: take one of them away.")
        if question.topic not in contents.titles:
            raise UserError(f"{path}: {question.id} has no topic: write the title of {question.topic} into {TOPICS}.")
        found[question.id] = question
    if not found:
        raise UserError(f"{chapters}: no room has questions (chNN_name/{QUESTIONS}): fetch the folder again.")
    without = sorted(set(contents.titles) - {question.topic for question in found.values()})
    if wrong := [*without, *(one for one in contents.first if one not in found)]:
        raise UserError(f"{folder / TOPICS}: no room asks {wrong[0]}: write the question, or take the name away.")
    ordered = sorted(found.values(), key=lambda question: (question.id not in contents.first, question.id))
    return tuple(
        Topic(name, title, tuple(question for question in ordered if question.topic == name))
        for name, title in contents.titles.items()
    )


def questions(chapters: Path = CHAPTERS, folder: str | Path | None = None) -> dict[str, Question]:
    """All questions of the bank by id."""
    return {question.id: question for topic in read_bank(chapters, folder) for question in topic.questions}


def questions_in(chapters: Path) -> Iterator[tuple[Path, Question]]:
    """The questions of all rooms, each with its file. A room without that file asks nothing."""
    for source in sources_in(chapters):
        path = source.parent / QUESTIONS
        if path.exists():
            yield from ((path, question) for question in read_room(path, number_of(source)))


def read_room(path: Path, chapter: str) -> list[Question]:
    """The questions of one room."""
    content = parse_toml(path)
    entries = content.get("question")
    if set(content) != {"question"} or not isinstance(entries, list):
        raise UserError(f"{path}: a room has [[question]] entries here, and nothing else.")
    if not entries:
        raise UserError(f"{path}: there is no question: write one, or remove the file.")
    return [read_question(entry, path, place, chapter) for place, entry in enumerate(entries, start=1)]


def read_question(entry: Any, path: Path, place: int, chapter: str) -> Question:
    """One question, checked."""
    where, topic = f"{path}, question {place}", ""
    if isinstance(entry, dict) and isinstance(entry.get("id"), str):
        where, topic = f"{path}, {shown(entry['id'])}", entry["id"].rpartition("-")[0]
    question = record(Question, entry, where, topic=topic, chapter=chapter)
    if problem := what_is_wrong(question):
        raise UserError(f"{where}: {problem}.")
    return question


def what_is_wrong(question: Question) -> str | None:
    """The first rule that a question breaks."""
    short, long, points = len(question.short.split()), len(question.long.split()), len(question.must)
    if not re.fullmatch(r"[a-z]+-\d\d", question.id):
        return "an id is the topic and two digits, for example attention-01"
    if question.kind not in KINDS:
        return f"kind is {shown(question.kind)}: choose one of {', '.join(KINDS)}"
    if question.level not in LEVELS:
        return f"level is {shown(question.level)}: choose one of {', '.join(LEVELS)}"
    if not 1 <= question.minutes <= 45:
        return f"minutes is {question.minutes}: give 1 to 45"
    if not SHORT[0] <= short <= SHORT[1]:
        return f"short has {short} words: give {SHORT[0]} to {SHORT[1]}, which can be said in half a minute"
    if not LONG[0] <= long <= LONG[1]:
        return f"long has {long} words: give {LONG[0]} to {LONG[1]}, which can be said in about two minutes"
    if not POINTS[0] <= points <= POINTS[1]:
        return f"must has {points} points: give {POINTS[0]} to {POINTS[1]}"
    if len({plain(point.point) for point in question.must}) < points:
        return "a point is there twice"
    if not question.wrong:
        return "wrong is empty: give an answer that people give, and why it is wrong"
    if question.evidence is None and question.source is None:
        return "give evidence (code and what it prints) or the source"
    if question.evidence and len(question.evidence.code.splitlines()) > MOST_LINES_OF_EVIDENCE:
        return f"the evidence has over {MOST_LINES_OF_EVIDENCE} lines of code: show less"
    return None


def retired_ids(path: Path) -> dict[str, str]:
    """The ids that may not be given again, each with the reason."""
    content = parse_toml(path)
    if not all(isinstance(reason, str) for reason in content.values()):
        raise UserError(f'{path}: write each retired id with its reason, as in attention-03 = "asked twice".')
    return content


def plain(text: str) -> str:
    """A text without case, punctuation and spaces, to find the same one twice."""
    return re.sub(r"\W+", "", text.casefold())
