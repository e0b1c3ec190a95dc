"""Quizzes: multiple-choice questions from quiz.json in a chapter's room, shown by jupyterquiz."""

import random
import re
from pathlib import Path
from typing import Any

from bertedu.course.rooms import in_full, room_of
from bertedu.course.ticks import ticks_file
from bertedu.errors import UserError
from bertedu.files import read_json

FEWEST, MOST = 5, 8
SEVERAL = "one or more answers are right"
SCRIPT = "application/javascript"
# jupyterquiz asks a server for MathJax, which typesets formulas. Our quizzes have none.
LOADS_MATHJAX = re.compile(r"\(function \(\) \{\s*var script = document.createElement.*?\}\)\(\);", re.DOTALL)


def read_quiz(path: str | Path) -> list[dict[str, Any]]:
    """The questions of a quiz. Raises UserError, with the question's number, for one that breaks the rules.

    A question is {"question", "type": "multiple_choice" or "many_choice", "answers"}; an answer is
    {"answer", "correct", "feedback"}, each with its own feedback.
    """
    questions = read_json(path)
    if not isinstance(questions, list) or not FEWEST <= len(questions) <= MOST:
        raise UserError(f"{path}: a quiz is a list of {FEWEST} to {MOST} questions: add or take away some.")
    for place, question in enumerate(questions, start=1):
        if problem := what_is_wrong(question):
            raise UserError(f"{path}, question {place}: {problem}.")
    return questions


def what_is_wrong(question: Any) -> str | None:
    """The first rule that a question breaks."""
    if not isinstance(question, dict) or set(question) != {"question", "type", "answers"}:
        return "it needs exactly the keys question, type and answers"
    answers = question["answers"]
    if question["type"] not in ("multiple_choice", "many_choice"):
        return f"the type is multiple_choice or many_choice, not {question['type']!r}"
    if not isinstance(answers, list) or not 2 <= len(answers) <= 6:
        return "give two to six answers"
    for answer in answers:
        if not isinstance(answer, dict) or set(answer) != {"answer", "correct", "feedback"}:
            return "an answer needs exactly the keys answer, correct and feedback"
        if not isinstance(answer["correct"], bool):
            return f"correct is true or false, not {answer['correct']!r}"
    texts = [question["question"], *(a["answer"] for a in answers), *(a["feedback"] for a in answers)]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return "a question, an answer and a feedback are texts that are not empty"
    if any("$" in text or "\\(" in text for text in texts):
        return "write formulas in words or Unicode: they do not render in a quiz"
    right = sum(answer["correct"] for answer in answers)
    if right < 1 or (right > 1 and question["type"] == "multiple_choice") or right == len(answers):
        return "one answer is correct (in many_choice one or more), and not all are"
    feedback = [answer["feedback"] for answer in answers if not answer["correct"]]
    if len(set(feedback)) < len(feedback):
        return "two wrong answers share a feedback: explain each"
    if len({answer["answer"] for answer in answers}) < len(answers):
        return "two answers are the same"
    return None


def shuffled(questions: list[dict[str, Any]], chapter: int | str) -> list[dict[str, Any]]:
    """The questions with their answers in an order that chapter and question decide: the same on each run.

    Authors write the right answer first, and a reader would soon know it by its position.
    """
    result = []
    for place, question in enumerate(questions, start=1):
        answers = list(question["answers"])
        random.Random(f"answers {chapter}.{place}").shuffle(answers)
        result.append({**question, "answers": answers})
    return result


def with_hint(question: dict[str, Any]) -> dict[str, Any]:
    """A question as it is shown: it says where more than one answer can be right."""
    several = question["type"] == "many_choice"
    return {**question, "question": f"{question['question']} ({SEVERAL})"} if several else question


def quiz(chapter: int | str) -> None:
    """Show the quiz of a chapter (3, or "1b"): click an answer to see why it is right or wrong. Nothing is fetched.

    The first attempt at each question is kept with the ticks, so that `progress()` can tell it.
    """
    from IPython.utils.capture import capture_output  # here, since checks and hints do without them
    from jupyterquiz import display_quiz

    room = room_of(in_full(str(chapter)))
    if room is None:
        raise UserError(f"there is no chapter {chapter!r}: its number is the one in its title, as in quiz(3).")
    questions = list(map(with_hint, shuffled(read_quiz(room / "quiz.json"), chapter)))
    state = random.getstate()
    random.seed(chapter)  # the names of the page's elements come from here: the same on each run
    try:
        with capture_output() as shown:
            display_quiz(questions, shuffle_questions=False, shuffle_answers=False)
    finally:
        random.setstate(state)
    for output in shown.outputs:
        if SCRIPT in output.data:
            output.data[SCRIPT] = LOADS_MATHJAX.sub("", output.data[SCRIPT])
        output.display()
    if ticks_file() is not None:  # not while a notebook is built
        from bertedu.course.quiz_answers import keep_answers

        keep_answers(chapter)
