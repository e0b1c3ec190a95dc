"""What a whiteboard drill is. Each drill has a file of its own, with its check and a `DRILL`.

To add one, write `exercises/my_drill.py`: `examine(case)`, as the exercises' checks are written
(bertedu/chapters/README.md), and `DRILL = Drill(name="my-drill", …, examine=examine)`. Its proof goes into
tests/interview_drills/my_drill.py.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise, Kind

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Drill:
    """A task to be written on a blank page against the clock.

    minutes is what a whiteboard interview gives. task is plain text: the signature, the shapes, what to return, what is
    allowed. stub is the code that the learner starts with, imports included; its last function or class is what is
    handed in, and its body raises NotImplementedError. solution is the same code, solved. chapter and section say
    where the course builds it: "03", and the words of the heading. hints are two, the second nearer to the answer.
    """

    name: str
    title: str
    minutes: int
    task: str
    stub: str
    solution: str
    chapter: str
    section: str
    hints: tuple[str, str]
    examine: Callable[[Case], None]
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problem = None
        if not NAME.fullmatch(self.name):
            problem = "a name is small letters and digits with hyphens between words, as in masked-attention"
        elif len(self.hints) != 2 or not all(self.hints):
            problem = "a drill has two hints"
        elif not isinstance(self.minutes, int) or not 1 <= self.minutes <= 45:
            problem = f"minutes is {self.minutes}: give 1 to 45"
        elif handed_in(self.stub) is None:
            problem = "the stub defines no function or class"
        if problem:
            raise ValueError(f"drill {self.name}: {problem}.")

    @property
    def answer(self) -> str:
        """The name of what is handed in: the last function or class of the stub."""
        node = handed_in(self.stub)
        assert node is not None
        return node.name

    @property
    def kind(self) -> Kind:
        """Whether a function or a class is handed in."""
        return "class" if isinstance(handed_in(self.stub), ast.ClassDef) else "function"

    @property
    def exercise(self) -> Exercise:
        """The drill as an exercise, whose number is the drill's name; nobody sees the difficulty of a drill."""
        return Exercise(self.name, self.title, 2, self.minutes, self.hints, self.examine, self.kind, self.without)

    @property
    def built_in(self) -> str:
        """Where the course builds it, for people."""
        return f"chapter {self.chapter}, “{self.section}”"


def handed_in(code: str) -> ast.FunctionDef | ast.ClassDef | None:
    """The last function or class that code defines at its left margin."""
    found = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return found[-1] if found else None
