"""A variant of an exercise: other numbers, another order of axes or another bug, drawn from a teacher's seed."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bertedu.course.exercise import Exercise

T = TypeVar("T")
COPIED = "This is the answer to the chapter's exercise {number}. Read what is different here."


@dataclass(frozen=True)
class Variant:
    """An exercise with numbers of its own: what the notebook says, the first line of the answer, its name.

    given is code that stands before it, for example the program with the bug.
    """

    exercise: Exercise
    text: str
    signature: str
    given: str = ""

    @property
    def name(self) -> str:
        """What the answer is called."""
        return self.signature.removeprefix("def ").partition("(")[0]


class Draws:
    """Choices that follow from a token and the number of an exercise, the same everywhere."""

    def __init__(self, token: str, number: str):
        self.about, self.count = f"{token} {number}", 0

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        self.count += 1
        digest = hashlib.sha256(f"{self.about} {self.count}".encode()).digest()
        return options[int.from_bytes(digest[:8], "big") % len(options)]


Maker = Callable[[Draws], Variant]


def token_of(seed: str, about: str) -> str:
    """What stands in a notebook instead of the teacher's seed: the seed does not follow from it, nor another
    assignment's token."""
    return hashlib.sha256(f"bertedu variant\n{seed}\n{about}".encode()).hexdigest()[:16]
