"""Which accepted parts do not work in the whole: the reader's parts are put in one at a time, in the order of the data.

A part that is accepted and does not work is a fault of its check, never the reader's.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bertedu.course.guarding import ORIGINALS, within
from bertedu.course.keeping import Answer
from bertedu.course.parts import BY_NUMBER, PARTS
from bertedu.course.raising import text_of
from bertedu.course.settings import own_settings
from bertedu.course.verdict import StillRunning
from bertedu.mine.learning import try_two_steps
from bertedu.mine.running import Fault, Program, differences, where

SECONDS = 60.0  # of work for one try of the whole, which takes a second
NEAR = 1e-4  # the largest difference of hidden states from the package's


@dataclass(frozen=True)
class Broken:
    """A part that was accepted and breaks the whole: what happened, and the reader's line."""

    number: str
    reason: str
    line: str = ""

    def __str__(self) -> str:
        line = f" The line is: {self.line}" if self.line else ""
        return (
            f"{self.number}, {BY_NUMBER[self.number].title}, stopped it: {self.reason}.{line} Your answer was "
            "accepted, so its check should have seen this. Please report it, with your answer. Here the package's "
            "stands in for it."
        )


def attempt(answers: Mapping[str, Answer]) -> Program:
    """Load the program of some answers, compare it with the package, and let it learn for two steps. Raises what a part
    raises, or Fault."""
    with ORIGINALS.restored(), own_settings():
        program = Program(answers)
        hidden, _ = differences(program)
        if not hidden < NEAR:
            raise Fault(f"hidden states differ by {hidden:.2g} from the package's")
        try_two_steps(program)
    return program


def working(answers: Mapping[str, Answer]) -> tuple[Program, list[Broken]]:
    """The program of those parts that work together, and the others."""
    good, broken = dict(answers), []
    while isinstance(found := tried(good), Failure):
        number = culprit(good, found.section)
        if number is None:
            raise found.error  # with nothing of the reader's in it
        broken.append(Broken(number, found.reason, found.line if found.section == number else ""))
        del good[number]
    return found, broken


def culprit(answers: Mapping[str, Answer], suspect: str | None) -> str | None:
    """The part that breaks the program: each is exchanged for the package's, one at a time, that of the failing line
    first. Where no single exchange helps, several are broken: then the parts are put in one by one until it fails."""
    order = sorted((part.number for part in PARTS if part.number in answers), key=lambda number: number != suspect)
    for number in order:
        if isinstance(tried({other: one for other, one in answers.items() if other != number}), Program):
            return number
    so_far: dict[str, Answer] = {}
    for number in order:
        so_far[number] = answers[number]
        if isinstance(tried(so_far), Failure):
            return number
    return None


@dataclass(frozen=True)
class Failure:
    """How a program failed: the error, what is said of it, the part in which it was raised, and the line."""

    error: BaseException
    reason: str
    section: str | None
    line: str


def tried(answers: Mapping[str, Answer]) -> Program | Failure:
    """The program of some answers, or how it fails."""
    try:
        return within(SECONDS, lambda: attempt(answers))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an answer can raise anything, SystemExit too
        return Failure(error, told(error), *where(error))


def told(error: BaseException) -> str:
    """What an error says."""
    if isinstance(error, Fault):
        return str(error)
    if isinstance(error, StillRunning):
        return f"it was still running after {SECONDS:g} seconds"
    message = " ".join(text_of(error).split())[:200].rstrip(".")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
