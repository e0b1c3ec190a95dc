"""Multiple choice: rows with a question, its choices and the right one."""

import re
from collections.abc import Sequence
from typing import Any

from bertedu.corpora.readers.labelled import Choices
from bertedu.corpora.readers.rows import Row, column_of, given_text, value_of
from bertedu.corpora.readers.values import text_value
from bertedu.errors import UserError, shown

QUESTION_NAMES = ("question", "premise", "startphrase")
CONTEXT_NAMES = ("context", "article", "premise")  # a premise without a question is the question itself
CHOICES_NAMES = ("choices", "options", "endings")
NUMBERED_CHOICE = re.compile(r"(?:choice|ending|option)_?([0-9]{1,3})")  # choice1, choice2 or ending0, ending1
NUMBER_OF_NAME = re.compile(r"\D*([0-9]{1,3})")  # 1 of choice1, or of a choice that is called 1
ANSWER_NAMES = ("label", "answer", "answerKey")


def choices(rows: Sequence[Row]) -> list[Choices]:
    """Each row as a question with choices: a list of them, or columns with numbers (choice1, choice2).

    The answer may be given as the number of the right choice (see `numbers_of`), its letter (A is the first) or its
    text. A row need not have a context. COPA's has a premise and the question "cause" or "effect".
    """
    question_column = column_of(rows, None, QUESTION_NAMES, "question")
    answer_column = column_of(rows, None, ANSWER_NAMES, "answer")
    answers = [value_of(row, answer_column) for row in rows]
    written = {str(answer) for answer in answers if isinstance(answer, int | str)}
    found: list[Choices] = []
    for row, answer in zip(rows, answers, strict=True):
        place, values = row
        question = given_text(value_of(row, question_column), place, question_column)
        contexts = [values[name] for name in CONTEXT_NAMES if name in values and name != question_column]
        context = next((given for given in contexts if given not in (None, "")), None)
        context = "" if context is None else given_text(context, place, "the context")
        texts, names = choices_of(row)
        if len(texts) < 2 or len(set(texts)) < len(texts):
            raise UserError(f"{place}: the choices {shown(texts)} must be two or more, all different: mend the row.")
        if found and len(texts) != len(found[0].choices):
            raise UserError(
                f"{place}: {len(texts)} choices ({shown(texts)}) where the rows before have {len(found[0].choices)}: "
                "give every row as many."
            )
        right = right_choice(answer, texts, names, numbers_of(names, len(texts), written), place)
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


def numbers_of(names: tuple[str, ...], count: int, written: set[str]) -> list[str]:
    """How answers count the choices: by the numbers in their names (choice1 is 1), else from 0.

    COPA's columns are choice1 and choice2 and its labels 0 and 1: so where 0 is among all answers written in the file
    and the last number is not, they count from 0 whatever the names.
    """
    from_0 = [str(number) for number in range(count)]
    own = [str(int(match[1])) for name in names if (match := NUMBER_OF_NAME.fullmatch(name))]
    if len(set(own)) < count or ("0" in written and own[-1] not in written):
        return from_0
    return own


def right_choice(
    answer: Any, texts: tuple[str, ...], names: tuple[str, ...], numbers: Sequence[str], place: str
) -> int:
    """The position, from 0, of the choice that the answer names; numbers are what an answer may call the choices."""
    if isinstance(answer, str) and answer in names:
        return names.index(answer)
    letters = [chr(ord("A") + number) for number in range(len(texts))]
    # All that the answer may mean: "1" among the choices "1" and "2" is a text and a number, and not to be guessed.
    meant = {places.index(answer) for places in (letters, texts) if answer in places}
    if isinstance(answer, int | str) and str(answer) in numbers:
        meant.add(numbers.index(str(answer)))
    if len(meant) == 1:
        return meant.pop()
    raise UserError(
        f"{place}: the answer {shown(answer)} names {'several' if meant else 'none'} of {len(texts)} choices: "
        f"give a number from {numbers[0]} to {numbers[-1]}, a letter from A, or the text of the choice."
    )
