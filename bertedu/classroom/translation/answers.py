"""`check`, `hint` and `quiz` in another language: what a translated notebook imports in place of the originals.

    check, hint = in_language("de").check, in_language("de").hint

The originals examine the answer; what they say is translated line by line. What has no translation stays English.
"""

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

from bertedu.classroom.translation.catalogues import SHARED, catalogue_path, messages, read_catalogue
from bertedu.classroom.translation.patterns import Phrases
from bertedu.course import checking, quizzes
from bertedu.course.building.places import Places
from bertedu.course.checking import Text
from bertedu.course.data import data_folder, data_path
from bertedu.course.verdict import Verdict
from bertedu.errors import UserError


@dataclass(frozen=True, repr=False)
class TranslatedVerdict(Verdict):
    """A verdict that shows itself in another language; status and .passed are as in English, for graders."""

    head: str = ""

    def __repr__(self) -> str:
        return "\n".join((f"{self.number} · {self.head}.", *self.lines))


@dataclass(frozen=True)
class Answers:
    """What a notebook of one language calls."""

    language: str

    def check(self, number: str, answer: Any = None) -> Verdict:
        """Examine an answer, as `bertedu.course.check` does."""
        words = phrases(self.language, chapter_of(number))
        try:
            verdict = checking.check(number, answer)
        except UserError as error:
            raise UserError(words.say(str(error))) from None
        lines = tuple(words.say(line) for line in verdict.lines)
        return TranslatedVerdict(verdict.number, verdict.status, lines, verdict.trouble, words.say(verdict.status))

    def hint(self, number: str) -> Text:
        """The next hint, as `bertedu.course.hint` gives it."""
        words = phrases(self.language, chapter_of(number))
        try:
            return Text(words.say(checking.hint(number)))
        except UserError as error:
            raise UserError(words.say(str(error))) from None

    def quiz(self, chapter: int) -> None:
        """Show the quiz of a chapter: the same questions with their answers in the same order."""
        from IPython.utils.capture import capture_output  # here, since checks and hints do without them
        from jupyterquiz import display_quiz

        questions = self.questions(chapter)
        state = random.getstate()
        random.seed(chapter)  # as in the original: the names of the page's elements come from here
        try:
            with capture_output() as shown:
                display_quiz(questions, shuffle_questions=False, shuffle_answers=False)
        finally:
            random.setstate(state)
        for output in shown.outputs:
            if quizzes.SCRIPT in output.data:
                output.data[quizzes.SCRIPT] = quizzes.LOADS_MATHJAX.sub("", output.data[quizzes.SCRIPT])
            output.display()

    def questions(self, chapter: int) -> list[dict[str, Any]]:
        """The questions of a quiz with every text translated that has a translation."""
        words = phrases(self.language, f"{chapter:02}").exact
        questions = quizzes.shuffled(quizzes.read_quiz(data_path(f"quizzes/{chapter:02}.json")), chapter)
        for question in questions:
            question["question"] = words.get(question["question"], question["question"])
            question["answers"] = [
                {name: words.get(value, value) if isinstance(value, str) else value for name, value in answer.items()}
                for answer in question["answers"]
            ]
        return questions


def chapter_of(number: Any) -> str:
    """ "00" for the exercise "0.3"; the number itself may be wrong, and `check` says so then."""
    return str(number).partition(".")[0].zfill(2)


@cache
def in_language(language: str) -> Answers:
    """check, hint and quiz of a language. Raises UserError where there is no translation into it."""
    places = Places(data_folder().parent)
    if not catalogue_path(language, SHARED, places).exists():
        known = ", ".join(sorted(path.parent.name for path in places.data.glob(f"translations/*/{SHARED}.po")))
        raise UserError(f"there is no translation into {language!r}: choose one of {known or 'none that is here'}.")
    return Answers(language)


@cache
def phrases(language: str, chapter: str) -> Phrases:
    """What is said in a chapter and in all, with its translation; a missing or fuzzy one stays English."""
    places, pairs = Places(data_folder().parent), {}
    for name in (SHARED, chapter):
        path = catalogue_path(language, name, places)
        if name.isalnum() and path.exists():
            for message in messages(read_catalogue(path)):
                pairs[message.id] = translation(message)
    return Phrases(pairs.items())


def translation(message: Any) -> str:
    """The translation of a message, or its English where that is missing or fuzzy."""
    return message.string if message.string and not message.fuzzy else message.id
