"""`check` as the cells of an assignment call it: words for the learner, and points where nbgrader grades.

The learner's process is the one that is graded here. What follows undoes the simple ways of getting points without an
answer (another `check`, `Verdict` or EXERCISES, another softmax); only `bertedu grade` keeps answers apart from what
judges them.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from IPython.display import clear_output, display
from IPython.utils.capture import capture_output

from bertedu.course import check as check_in_words
from bertedu.course.checking import ORIGINALS
from bertedu.course.verdict import Verdict

COURSE = "bertedu.course"
CHAPTERS = "bertedu.chapters"
VARIANTS = "bertedu.classroom.variants"


def check(number: str, answer: Any = None) -> Verdict | None:
    """Examine an answer as `bertedu.course.check` does. Where nbgrader's button "Validate" runs the notebook, a verdict
    that is not "yes" goes to stderr instead, which is how nbgrader learns of a failure."""
    verdict = check_in_words(number, answer)
    if verdict.passed or "NBGRADER_VALIDATING" not in os.environ:
        return verdict
    print(verdict, file=sys.stderr)
    return None


def scored(points: float, almost: float = 0.0, variant: str = "") -> Callable[..., float | None]:
    """The `check` of a cell that nbgrader grades: it shows the verdict, and returns what nbgrader takes for points.

    Nothing means all of the points, a number means so many: that share of the points where the verdict is "almost", and
    0 for any other but "yes". Whatever the answer prints is left out: nbgrader would take a warning for a failure, and
    a number for points.
    """

    def check(number: str, answer: Any = None) -> float | None:
        with capture_output(), course_as_on_the_disk():
            if variant:
                importlib.import_module(VARIANTS).use_variant(variant)
            checking = importlib.import_module(f"{COURSE}.checking")
            with checking.ORIGINALS.restored(), checking.own_settings():
                verdict = checking.examine(checking.find(number), answer)
        clear_output()  # what got out all the same
        display(verdict)
        if verdict.passed:
            return None
        return points * almost if verdict.status == "almost" else 0.0

    return check


@contextmanager
def course_as_on_the_disk() -> Iterator[None]:
    """Inside the block `bertedu.course` can be imported as its files say, whatever an answer has assigned to, and the
    chapters' exercises with it."""
    package, finders = sys.modules["bertedu"], list(sys.meta_path)
    theirs = (f"{COURSE}.", f"{CHAPTERS}.", f"{VARIANTS}.")
    loaded = {name: module for name, module in sys.modules.items() if f"{name}.".startswith(theirs)}
    with ORIGINALS.restored():
        try:
            for name in loaded:
                del sys.modules[name]
            yield
        finally:
            for name in [name for name in sys.modules if f"{name}.".startswith(theirs)]:
                del sys.modules[name]
            sys.modules.update(loaded)
            sys.meta_path[:] = finders
            for name in {COURSE, CHAPTERS} & set(loaded):
                setattr(package, name.rpartition(".")[2], loaded[name])
