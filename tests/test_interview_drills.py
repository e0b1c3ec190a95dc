"""The drills: what they say, and that what they show is right. Their checks are proven in test_course_exercises.py."""

import re
from pathlib import Path
from typing import Any

import pytest

from bertedu.course.rooms import CHAPTERS
from bertedu.interview.drills import exercises
from bertedu.interview.drills.register import DRILLS, examined

every_drill = pytest.mark.parametrize("drill", DRILLS.values(), ids=list(DRILLS))


def of_code(code: str, name: str) -> Any:
    found: dict[str, Any] = {}
    exec(compile(code, f"<{name}>", "exec"), found)
    return found[name]


def test_every_drill_is_found_in_a_file_of_its_name():
    files = {path.stem for path in Path(exercises.__file__).parent.glob("*.py")} - {"__init__"}
    assert {name.replace("-", "_") for name in DRILLS} == files


@every_drill
def test_the_blank_cell_is_not_attempted(drill):
    assert examined(drill.name, of_code(drill.stub, drill.answer)).status == "not attempted yet"


@every_drill
def test_the_solution_that_is_shown_is_accepted(drill):
    verdict = examined(drill.name, of_code(drill.solution, drill.answer))
    assert verdict.passed, f"{verdict}\n{verdict.trouble or ''}"


@every_drill
def test_a_task_names_the_signature_of_its_stub(drill):
    (signature,) = re.findall(rf"(?:def|class) ({drill.answer}\b[^:]*):", drill.stub)
    assert signature in drill.task, f"the task shows {signature}"
    assert drill.solution.count(signature) == 1, "the solution has the stub's signature"
    assert max(map(len, drill.task.splitlines())) <= 120


@every_drill
def test_a_drill_points_to_a_section_that_is_there(drill):
    (source,) = CHAPTERS.glob(f"ch{drill.chapter}_*/{drill.chapter}_*.py")
    headings = re.findall(r"^# #+ (.*)$", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert drill.section in headings, f"chapter {drill.chapter} has {headings}"
