"""Which questions: a mock interview of some minutes, and a plan for the hours that are left."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bertedu.errors import UserError
from bertedu.interview.bank import LEVELS, WORDS_A_MINUTE, Question, Topic

READING = 220  # words a minute of a person who reads to learn
FEWEST_MINUTES, MOST_MINUTES = 5, 240
LONGEST_SHARE = 3  # a question takes a third of a mock interview at most
HOURS = (1, 3, 10)
FOR_THE_MOCK = {1: 0, 3: 30, 10: 45}  # minutes of a plan that are left for a mock interview at its end


@dataclass(frozen=True)
class Step:
    """One entry of a plan: a question to answer aloud and then to read, and the minutes that this takes."""

    question: Question
    minutes: float


def mock_questions(topics: Sequence[Topic], minutes: int, seed: int) -> list[Question]:
    """Questions that fill a mock interview: easy ones first, topics in turns, no topic twice before each had a turn.

    No question takes more than a third of the time: a long design alone would say little about the rest. The same
    seed gives the same interview. Raises UserError for minutes out of range.
    """
    if not FEWEST_MINUTES <= minutes <= MOST_MINUTES:
        raise UserError(f"{minutes} minutes: give {FEWEST_MINUTES} to {MOST_MINUTES}.")
    generator = random.Random(f"mock {seed}")
    order = in_turns(topics, generator)
    chosen, left = [], minutes
    longest = max(FEWEST_MINUTES, minutes // LONGEST_SHARE)
    for question in order:
        if question.minutes <= min(left, longest):
            chosen.append(question)
            left -= question.minutes
    return sorted(chosen, key=lambda question: LEVELS.index(question.level))


def plan(topics: Sequence[Topic], hours: int) -> list[Step]:
    """What to practise in one, three or ten hours: the questions that are asked most often first, topics in turns.

    Each question costs the time to say its half-minute answer and to read both answers and the mistakes.
    """
    if hours not in HOURS:
        raise UserError(f"{hours} hours: choose one of {', '.join(map(str, HOURS))}.")
    left = 60.0 * hours - FOR_THE_MOCK[hours]
    steps = []
    for level in LEVELS:
        of_level = [Topic(one.name, one.title, tuple(q for q in one.questions if q.level == level)) for one in topics]
        for question in in_turns(of_level):
            cost = minutes_to_practise(question)
            if cost <= left:
                steps.append(Step(question, cost))
                left -= cost
    return steps


def minutes_to_practise(question: Question) -> float:
    """Minutes to read a question, say the short answer aloud, and read both answers, the points and the mistakes."""
    points = [text for point in question.must for text in (point.point, point.ask)]
    mistakes = [text for wrong in question.wrong for text in (wrong.said, wrong.because)]
    texts = (question.question, question.short, question.long, *points, *mistakes, *question.bonus)
    return words(texts) / READING + words([question.short]) / WORDS_A_MINUTE


def words(texts: Iterable[str]) -> int:
    """The number of words in texts."""
    return sum(len(text.split()) for text in texts)


def in_turns(topics: Sequence[Topic], generator: random.Random | None = None) -> list[Question]:
    """All questions, one of each topic after the other; with a generator in a random order within and of topics."""
    piles = [list(topic.questions) for topic in topics if topic.questions]
    if generator:
        generator.shuffle(piles)
        for pile in piles:
            generator.shuffle(pile)
    longest = max(map(len, piles), default=0)
    return [pile[turn] for turn in range(longest) for pile in piles if turn < len(pile)]
