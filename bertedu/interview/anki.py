"""The bank as flashcards for Anki, in its plain-text format. Importing a newer file updates the same cards.

Source: Anki manual, "Text Files" (file headers).
"""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from bertedu.files import write_text
from bertedu.interview.bank import Question

HEAD = (
    "#separator:tab",
    "#html:true",
    "#notetype:Basic",
    "#deck:BERT interview",
    "#guid column:1",
    "#tags column:4",
)


def write_anki(questions: Iterable[Question], path: str | Path) -> int:
    """Write one card for each question, its id as the card's identity and topic, level and kind as tags. Returns how
    many there are.
    """
    rows = [card(question) for question in questions]
    write_text(path, "\n".join((*HEAD, *rows)) + "\n")
    return len(rows)


def card(question: Question) -> str:
    """One line: identity, front, back, tags."""
    points = "".join(f"<li>{escape(point.point)}</li>" for point in question.must)
    mistakes = "".join(f"<li><i>{escape(one.said)}</i> {escape(one.because)}</li>" for one in question.wrong)
    back = (
        f"<p>{escape(question.short)}</p><p>To be said:</p><ul>{points}</ul><p>Wrong:</p><ul>{mistakes}</ul>"
        f"<p>Chapter {question.chapter}: {escape(question.section)}</p>"
    )
    tags = f"{question.topic} {question.level} {question.kind}"
    columns = (question.id, f"<p>{escape(question.question)}</p>", back, tags)
    return "\t".join(" ".join(column.split()) for column in columns)
