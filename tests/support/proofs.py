"""Answers that the checks must accept or refuse: to the exercises of the chapters, and to the drills."""

import importlib.util
from pathlib import Path

from bertedu.course.checking import check
from bertedu.course.exercise import Exercise
from bertedu.course.loading import all_exercises
from bertedu.course.rooms import chapter_of
from bertedu.course.verdict import Verdict
from bertedu.interview.drills.register import DRILLS, examined

TESTS = Path(__file__).parents[1]


def all_of_them() -> list[Exercise]:
    """What a learner can hand in an answer to."""
    return [*all_exercises(), *(drill.exercise for drill in DRILLS.values())]


def verdict_of(number: str, answer: object) -> Verdict:
    """What a learner hears: an exercise of a chapter is checked by its number, a drill by its name."""
    return examined(number, answer) if number in DRILLS else check(number, answer)


def proofs() -> dict[str, dict[str, list]]:
    found: dict[str, dict[str, list]] = {}
    for path in sorted([*TESTS.glob("chapters/ch*/exercise*.py"), *TESTS.glob("interview_drills/*.py")]):
        spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        strange = [one for one in module.ANSWERS if not belongs(one, path)]
        assert not strange, f"{path} has answers to exercises of another room: {strange}"
        found |= module.ANSWERS
    return found


def belongs(number: str, path: Path) -> bool:
    room = path.parent.name
    return path.stem == number.replace("-", "_") or room.startswith(f"ch{chapter_of(number)}_")


PROOFS = proofs()
