"""Multiple choice: rows with a question, its choices and the right one."""

import re
from collections.abc import Sequence
from typing import Any

from bertedu.corpora.readers.labelled import Choices
from bertedu.corpora.readers.rows import Row, column_of, value_of
from bertedu.corpora.readers.values import shown, text_value
from bertedu.errors import UserError

QUESTION_NAMES = ("question", "premise", "startphrase")
CONTEXT_NAMES = ("context", "article")
CHOICES_NAMES = ("choices", "options", "endings")
NUMBERED_CHOICE = re.compile(r"(?:choice|ending|option)_?([0-9]+)")  # choice1, choice2 or ending0, ending1
ANSWER_NAMES = ("label", "answer", "answerKey")


def choices(rows: Sequence[Row]) -> list[Choices]:
    """Each row as a question with choices: a list of them, or columns with numbers (choice1, choice2).

    The answer may be given as the place of the right choice (from 0), its letter (A is the first) or its text.
    """
    question_column = column_of(rows, None, QUESTION_NAMES, "question")
    answer_column = column_of(rows, None, ANSWER_NAMES, "answer")
    context_column = next((name for name in CONTEXT_NAMES if name in rows[0][1]), None)
    found: list[Choices] = []
    for row in rows:
        place = row[0]
        question = text_value(value_of(row, question_column), place, question_column)
        context = value_of(row, context_column) if context_column else None
        context = "" if context in (None, "") else text_value(context, place, "the context")
        texts, names = choices_of(row)
        if len(texts) < 2 or len(set(texts)) < len(texts):
            raise UserError(f"{place}: the choices {shown(texts)} must be two or more, all different: mend the row.")
        if found and len(texts) != len(found[0].choices):
            raise UserError(
                f"{place}: {len(texts)} choices ({shown(texts)}) where the rows before have {len(found[0].choices)}: "
                "give every row as many."
            )
        right = right_choice(value_of(row, answer_column), texts, names, place)
        found.append(Choices(question, texts, right, context))
    return found


def choices_of(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of the choices in a row and the names that the answer may use for them."""
    place, values = row
    listed: Any = next((values[name] for name in CHOICES_NAMES if name in values), None)
    names: Any = None
    if listed is None:
        numbered = sorted((int(match[1]), name) for name in values if (match := NUMBERED_CHOICE.fullmatch(name)))
        names = [name for _, name in numbered]
        listed = [values[name] for name in names]
    elif isinstance(listed, dict):  # {"label": ["A", "B"], "text": ["one", "other"]}
        listed, names = listed.get("text"), listed.get("label")
    if not isinstance(listed, list) or not listed:
        raise UserError(f"{place}: there is no list of choices among {', '.join(map(shown, values))}: add 'choices'.")
    texts = tuple(text_value(text, place, "a choice") for text in listed)
    return texts, tuple(map(str, names)) if isinstance(names, list) and len(names) == len(texts) else ()


def right_choice(answer: Any, texts: tuple[str, ...], names: tuple[str, ...], place: str) -> int:
    """The place, from 0, of the choice that the answer names."""
    if isinstance(answer, str) and answer in names:
        return names.index(answer)
    letters = [chr(ord("A") + number) for number in range(len(texts))]
    # All that the answer may mean: "1" among the choices "1" and "2" is a text and a number, and not to be guessed.
    meant = {places.index(answer) for places in (letters, texts) if answer in places}
    number = int(answer) if isinstance(answer, str) and answer.isdecimal() else answer
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(texts):
        meant.add(number)
    if len(meant) == 1:
        return meant.pop()
    raise UserError(
        f"{place}: the answer {shown(answer)} names {'several' if meant else 'none'} of {len(texts)} choices: "
        f"give a number from 0 to {len(texts) - 1}, a letter from A, or the text of the choice."
    )
