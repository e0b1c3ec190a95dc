"""An interview with oneself: answer aloud, tick the points that you said, get the follow-ups of what you missed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from bertedu.errors import UserError
from bertedu.interview.bank import Question

LATE = 0.5  # a point that was said only when it was asked for counts half
WEAK = 0.7  # below this share of the points a topic is weak


@dataclass
class Answered:
    """What was said to one question: its points by their position from 0, at once and after a follow-up."""

    question: Question
    said: frozenset[int] = frozenset()
    said_late: frozenset[int] = frozenset()

    @property
    def share(self) -> float:
        """The share of the points that was said."""
        return (len(self.said) + LATE * len(self.said_late)) / len(self.question.must)


@dataclass
class Session:
    """The questions of an interview, one after the other.

    `follow_ups` says what to ask after the points that were said at once; `done` notes both and goes on.
    """

    questions: Sequence[Question]
    answered: list[Answered] = field(default_factory=list)

    @property
    def current(self) -> Question | None:
        """The question that is asked now, None at the end."""
        return self.questions[len(self.answered)] if len(self.answered) < len(self.questions) else None

    def follow_ups(self, points: Collection[int]) -> dict[int, str]:
        """What to ask about each point that was not said, by its position."""
        question = self._asked()
        at_once = known(question, points)
        return {place: point.ask for place, point in enumerate(question.must) if place not in at_once}

    def done(self, points: Collection[int], late: Collection[int] = ()) -> None:
        """Note what was said at once and after the follow-ups, and go on to the next question."""
        question = self._asked()
        at_once = known(question, points)
        self.answered.append(Answered(question, at_once, known(question, late) - at_once))

    def _asked(self) -> Question:
        if self.current is None:
            raise UserError("the interview is over: begin another one.")
        return self.current

    def by_topic(self) -> dict[str, float]:
        """The share of the points that was said in each topic, the weakest first."""
        shares: dict[str, list[float]] = {}
        for one in self.answered:
            shares.setdefault(one.question.topic, []).append(one.share)
        means = {topic: sum(found) / len(found) for topic, found in shares.items()}
        return dict(sorted(means.items(), key=lambda pair: pair[1]))

    def to_read(self) -> list[tuple[str, str]]:
        """(chapter, section) of the questions in which points were missed, those with most missed first, each once."""
        weak = [one for one in self.answered if one.share < WEAK]
        weak.sort(key=lambda one: one.share)
        return list(dict.fromkeys((one.question.chapter, one.question.section) for one in weak))


def known(question: Question, points: Collection[int]) -> frozenset[int]:
    """The points as a set. Raises UserError for one that the question does not have."""
    if wrong := sorted(set(points) - set(range(len(question.must)))):
        raise UserError(f"{question.id} has the points 1 to {len(question.must)}, and not {wrong[0] + 1}.")
    return frozenset(points)
