"""A chapter's quiz as HTML that works without a kernel: site.js says why an answer is right or wrong."""

from html import escape
from typing import Any

from bertedu.course.quizzes import SEVERAL, read_quiz, shuffled
from bertedu.course.rooms import CHAPTERS


def quiz_html(room: str, chapter: str) -> str:
    """The quiz of a room ("ch03_self_attention"), its answers in the order of the notebook (chapter "3")."""
    questions = shuffled(read_quiz(CHAPTERS / room / "quiz.json"), chapter)
    shown = "".join(question_html(question, number) for number, question in enumerate(questions, start=1))
    return f'<div class="quiz" data-questions="{len(questions)}">{shown}<p class="quiz-score" role="status"></p></div>'


def question_html(question: dict[str, Any], number: int) -> str:
    """One question: a button for each answer, whose feedback appears when it is pressed."""
    several = question["type"] == "many_choice"
    hint = f" <small>({SEVERAL})</small>" if several else ""
    wanted = sum(answer["correct"] for answer in question["answers"])
    answers = "".join(answer_html(answer) for answer in question["answers"])
    return (
        f'<fieldset data-wanted="{wanted}"><legend><b>{number}.</b> {escape(question["question"])}{hint}</legend>'
        f"{answers}</fieldset>"
    )


def answer_html(answer: dict[str, Any]) -> str:
    """One answer and what is said to it."""
    right = "true" if answer["correct"] else "false"
    return (
        f'<div class="quiz-answer"><button type="button" data-right="{right}" aria-expanded="false">'
        f"{escape(answer['answer'])}</button><p hidden>{escape(answer['feedback'])}</p></div>"
    )
