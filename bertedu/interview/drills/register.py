"""All drills, and how an answer to one is examined: under the same conditions as the exercises of the chapters."""

import re
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from bertedu.course import checking
from bertedu.course.guarding import ORIGINALS
from bertedu.course.settings import own_settings
from bertedu.course.verdict import Verdict
from bertedu.interview.drills import exercises
from bertedu.interview.drills.drill import Drill
from bertedu.interview.names import the_one


def read_drills() -> dict[str, Drill]:
    """All drills by name, in the order of the chapters that build them."""
    names = [module.name for module in iter_modules(exercises.__path__, f"{exercises.__name__}.")]
    with ORIGINALS.restored():  # what a notebook has replaced by now is not taken for an original
        found: list[Drill] = [import_module(name).DRILL for name in names]
    return {drill.name: drill for drill in sorted(found, key=lambda drill: (drill.chapter, drill.name))}


DRILLS = read_drills()


def find(name: Any) -> Drill:
    """The drill of that name. Raises UserError for any other name."""
    return DRILLS[the_one("drill", name, DRILLS)]


def examined(name: str, answer: Any) -> Verdict:
    """Examine an answer to a drill in words; nothing is kept, and no clock is asked."""
    drill = find(name)
    with ORIGINALS.restored(), own_settings():
        verdict = checking.examine(drill.exercise, answer)
    return replace(verdict, lines=tuple(re.sub(r"\bcheck\(", "finish(", line) for line in verdict.lines))
