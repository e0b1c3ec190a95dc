"""The question bank: data/interview/*.toml, one file a topic, read strictly.

A question holds what an interviewer listens for: the points that must be said, what people say wrongly and why it is
wrong, and evidence, which is code whose output proves the answer, or the source that it stands in.
"""

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bertedu.course.data import data_path
from bertedu.errors import UserError, shown
from bertedu.interview.records import parse_toml, record

KINDS = ("explain", "derive", "estimate", "compare", "debug", "design", "code")
LEVELS = ("screen", "onsite", "senior")
WORDS_A_MINUTE = 150  # of a person who explains something aloud
SHORT = (30, 85)  # words in an answer of about 30 seconds
LONG = (130, 330)  # words in an answer of about two minutes
POINTS = (3, 6)  # points that must be said
MOST_LINES_OF_EVIDENCE = 16
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
    interview, follow-ups included. section is a heading of the chapter, both as the reader sees them. reviewed is the
    day on which somebody last looked up the facts that age, where the answer has such facts.
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
class Topic:
    """A file of the bank: what it is about, and its questions in the order in which they are written."""

    name: str
    title: str
    questions: tuple[Question, ...]


def read_bank(folder: str | Path | None = None) -> tuple[Topic, ...]:
    """All topics of the bank, by name.

    Raises UserError, which names the file and the question, for one that breaks a rule: a key that is missing, unknown
    or of the wrong type, a point or an answer too many or too few, an id that is given twice or was retired, and a
    question with neither evidence nor source.
    """
    folder = data_path("interview") if folder is None else Path(folder)
    retired = retired_ids(folder / RETIRED) if (folder / RETIRED).exists() else {}
    topics = tuple(read_topic(path) for path in sorted(folder.glob("*.toml")) if path.name != RETIRED)
    if not topics:
        raise UserError(f"{folder}: there are no questions (NAME.toml) here: fetch the folder again.")
    seen: dict[str, str] = {}
    for topic in topics:
        for question in topic.questions:
            text = seen.setdefault(plain(question.question), question.id)
            if question.id in retired:
                raise UserError(f"{folder}: the id {question.id} was retired ({retired[question.id]}): give a new one.")
            if text != question.id:
                raise UserError(f"{folder}: {question.id} asks what {text} asks: take one of them away.")
    return topics


def questions(folder: str | Path | None = None) -> dict[str, Question]:
    """All questions of the bank by id."""
    return {question.id: question for topic in read_bank(folder) for question in topic.questions}


def read_topic(path: Path) -> Topic:
    """The questions of one file."""
    content = parse_toml(path)
    entries = content.get("question")
    if set(content) != {"title", "question"} or not isinstance(content["title"], str) or not isinstance(entries, list):
        raise UserError(f"{path}: a topic has a title and its [[question]] entries, and nothing else.")
    if not entries:
        raise UserError(f"{path}: there is no question: write one, or remove the file.")
    found: dict[str, Question] = {}
    for place, entry in enumerate(entries, start=1):
        question = read_question(entry, path, place)
        if question.id in found:
            raise UserError(f"{path}: the id {question.id} is given twice: give each question its own.")
        found[question.id] = question
    return Topic(path.stem, content["title"], tuple(found.values()))


def read_question(entry: Any, path: Path, place: int) -> Question:
    """One question, checked."""
    where = f"{path}, question {place}"
    if isinstance(entry, dict) and isinstance(entry.get("id"), str):
        where = f"{path}, {shown(entry['id'])}"
    question = record(Question, entry, where, topic=path.stem)
    if problem := what_is_wrong(question):
        raise UserError(f"{where}: {problem}.")
    return question


def what_is_wrong(question: Question) -> str | None:
    """The first rule that a question breaks."""
    short, long, points = len(question.short.split()), len(question.long.split()), len(question.must)
    if not re.fullmatch(rf"{re.escape(question.topic)}-\d\d", question.id):
        return f"an id is the topic and two digits, for example {question.topic}-01"
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
    if not re.fullmatch(r"\d\d[a-z]?", question.chapter):
        return f"chapter is {shown(question.chapter)}: write two digits, as in 08"
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
