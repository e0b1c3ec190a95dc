"""Questions with answers in a text, in SQuAD's JSON (Rajpurkar et al. 2016 and 2018) or as rows with columns."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bertedu.corpora.readers.labelled import Answer, Question
from bertedu.corpora.readers.opening import read_data_text
from bertedu.corpora.readers.rows import Row, value_of
from bertedu.corpora.readers.values import counted, text_value
from bertedu.errors import UserError, shown
from bertedu.json_values import parse_json

MOST_CHARACTERS_SHOWN = 40


def read_squad(path: str | Path) -> list[Question]:
    """Every question of a SQuAD file, version 1.1 or 2.0, or of a list of rows (see `questions`), in order.

    `plausible_answers` are left aside.
    Raises UserError with line and column for damaged JSON; with the path in the JSON and the question's id for
    what is missing, for an answer that does not stand in the context at its offset, for a question with answers
    that is called impossible or the other way round, and for an id that is there twice.
    """
    whole = parse_json(read_data_text(path), path)
    if isinstance(whole, list) and whole and all(isinstance(entry, dict) for entry in whole):
        return questions([(f"{path}, entry {number}", entry) for number, entry in enumerate(whole, start=1)])
    found: list[tuple[str, Question]] = []
    for where, article in entries(whole, "data", f"{path}", ""):
        for inner, paragraph in entries(article, "paragraphs", f"{path}, {where}", f"{where}."):
            context = text_value(paragraph.get("context"), f"{path}, {inner}", "the context")
            for place, entry in entries(paragraph, "qas", f"{path}, {inner}", f"{inner}."):
                place = f"{path}, {place}"
                found.append((place, question_of(entry, context, article.get("title", ""), place)))
    return all_different(found, str(path))


def entries(value: Any, key: str, place: str, prefix: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """The objects in the list under a key, each with its path in the JSON (data[3].paragraphs[0])."""
    listed = value.get(key) if isinstance(value, dict) else None
    if not isinstance(listed, list):
        raise UserError(
            f"{place} has no list {key!r} (there is {shown(listed if isinstance(value, dict) else value)}): "
            "write SQuAD's data > paragraphs > qas."
        )
    for number, entry in enumerate(listed):
        where = f"{prefix}{key}[{number}]"
        if not isinstance(entry, dict):
            raise UserError(f"{place}: {where} is {shown(entry)}: write an object {{…}} there.")
        yield where, entry


def question_of(entry: dict[str, Any], context: str, title: Any, place: str) -> Question:
    """One entry of `qas` as a question."""
    name = text_value(entry.get("id"), place, "the id")
    place = f"{place} (id {shown(name)})"
    text = text_value(entry.get("question"), place, "the question")
    if not isinstance(title, str):
        raise UserError(f"{place}: the title is {shown(title)}, not a text: write one, or remove it.")
    listed = entry.get("answers", [])
    if not isinstance(listed, list):
        raise UserError(f"{place}: answers is {shown(listed)}: write a list, empty where there is no answer.")
    answers = tuple(answer_of(answer, context, f"{place}, answers[{n}]") for n, answer in enumerate(listed))
    impossible = entry.get("is_impossible", False)
    if not isinstance(impossible, bool) or impossible is bool(answers):
        raise UserError(
            f"{place}: is_impossible is {shown(impossible)} and there is a list of {counted(len(answers), 'answer')}: "
            "give answers, or call the question impossible (true) and give none."
        )
    return Question(name, text, context, answers, impossible, title)


def answer_of(answer: Any, context: str, place: str) -> Answer:
    """An answer whose text is known to stand in the context at its offset."""
    if not isinstance(answer, dict):
        raise UserError(f"{place} is {shown(answer)}: write an object with text and answer_start.")
    text, start = text_value(answer.get("text"), place, "the text"), answer.get("answer_start")
    if not isinstance(start, int) or isinstance(start, bool) or start < 0:
        raise UserError(f"{place}: answer_start is {shown(start)}: write the position of the first character, from 0.")
    if (there := context[start : start + len(text)]) != text:
        elsewhere = context.find(text)
        remedy = f"write {elsewhere}, where it stands" if elsewhere >= 0 else "correct it, it is nowhere in the context"
        raise UserError(
            f"{place}: the answer {shown(text)} should stand at character {start}, where there is "
            f"{shown(there, MOST_CHARACTERS_SHOWN) if there else 'nothing'}: {remedy}."
        )
    return Answer(text, start)


def questions(rows: Sequence[Row]) -> list[Question]:
    """Rows as the hub has them: id, question, context, and answers as {"text": […], "answer_start": […]}.

    A question without an answer is impossible: there is no column that says so.
    """
    found: list[tuple[str, Question]] = []
    for place, row in rows:
        answers = value_of((place, row), "answers")
        if isinstance(answers, dict):
            texts, starts = answers.get("text"), answers.get("answer_start")
            if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
                raise UserError(f"{place}: answers is {shown(answers)}: write text and answer_start, lists as long.")
            answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
        context = text_value(value_of((place, row), "context"), place, "the context")
        entry = {"id": value_of((place, row), "id"), "question": value_of((place, row), "question")}
        entry |= {"answers": answers, "is_impossible": row.get("is_impossible", not answers)}
        found.append((place, question_of(entry, context, row.get("title") or "", place)))
    return all_different(found, rows[0][0] if rows else "")


def all_different(found: list[tuple[str, Question]], source: str) -> list[Question]:
    """The questions, of which there must be one, and none with the id of another."""
    if not found:
        raise UserError(f"{source} holds no question: fetch it again, or name a file with questions.")
    seen: dict[str, str] = {}
    for place, question in found:
        if question.id in seen:
            raise UserError(
                f"{place}: the question id {shown(question.id)} is the one of {seen[question.id]}: give each its own."
            )
        seen[question.id] = place.removeprefix(f"{source}, ")
    return [question for _, question in found]
