"""What an exercise is, and the register of all of them.

A chapter's room, `bertedu/chapters/ch03_self_attention/exercises/`, registers its exercises with the decorator
`exercise`. How to write one: bertedu/chapters/README.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bertedu.course.case import Case
from bertedu.course.rooms import EXERCISE, chapter_of

Kind = Literal["function", "class", "value"]
Runs = Literal["apart", "with package", "beside", "compiled"]


@dataclass(frozen=True)
class Exercise:
    """One exercise of a chapter: what the notebook says of it, and how an answer is examined.

    without: what an answer may not use or contain, because it would be the solution: names of functions, classes and
    modules, as in course/without.py.
    nan: whether a right answer may return a NaN.
    runs: where a grader runs an answer. "apart": in a process in which the package is empty. "with package": there the
    package is as it is, because an input or a recorder is the package's. "beside": the check runs in that process too,
    because it looks inside what it gets (a class, a model). "compiled": beside, and the check compiles the answer.
    """

    number: str
    title: str
    difficulty: int
    minutes: int
    hints: tuple[str, str]
    examine: Callable[[Case], None]
    kind: Kind = "function"
    without: tuple[str, ...] = ()
    nan: bool = False
    runs: Runs = "apart"

    @property
    def chapter(self) -> str:
        """ "03" for exercise 3.2."""
        return chapter_of(self.number)

    @property
    def order(self) -> tuple[str, int]:
        """("03", 2) for exercise 3.2: 3.10 comes after 3.9."""
        return self.chapter, int(self.number.partition(".")[2])

    @property
    def dots(self) -> str:
        """The difficulty as the notebook shows it: ●●○○ for 2."""
        return "●" * self.difficulty + "○" * (4 - self.difficulty)

    @property
    def beside(self) -> bool:
        """Whether the check runs in the process of the answer."""
        return self.runs in ("beside", "compiled")


EXERCISES: dict[str, Exercise] = {}


def exercise(
    number: str,
    title: str,
    *,
    difficulty: int,
    minutes: int,
    hints: tuple[str, str],
    kind: Kind = "function",
    without: tuple[str, ...] = (),
    nan: bool = False,
    runs: Runs = "apart",
) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """Register the function below as what examines exercise `number`.

    difficulty is 1 to 4; hints are two sentences, the second nearer to the answer; kind is what the learner
    hands in: a function, a class, or a value (for "predict"). without, nan and runs: see Exercise.
    """
    problem = None
    if not EXERCISE.fullmatch(number):
        problem = "a number is chapter and exercise, as 3.2"
    elif number in EXERCISES:
        problem = "this number is taken"
    elif difficulty not in (1, 2, 3, 4):
        problem = f"difficulty is 1, 2, 3 or 4, not {difficulty}"
    elif len(hints) != 2 or not all(hints):
        problem = "an exercise has two hints"
    if problem:
        raise ValueError(f"exercise {number}, {title}: {problem}.")

    def register(examine: Callable[[Case], None]) -> Callable[[Case], None]:
        EXERCISES[number] = Exercise(number, title, difficulty, minutes, hints, examine, kind, without, nan, runs)
        return examine

    return register
