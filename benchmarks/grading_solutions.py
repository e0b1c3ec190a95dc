"""Assign chapters, hand in the course's own solutions, grade: python benchmarks/grading_solutions.py [CHAPTER...]

Every exercise must have full points. Prints a line for each chapter, and each answer that lost points. Without chapters
it takes all; each takes some seconds.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from bertedu.classroom.assignment import make_assignment
from bertedu.classroom.assignment_file import read_assignment
from bertedu.classroom.grading.grading import grade

CHAPTERS = ["1b", *(str(chapter) for chapter in (*range(14), *range(15, 21), 25))]


def graded(chapter: str, folder: Path, only_exercises: bool) -> bool:
    """Grade the solutions of one chapter; whether all had full points."""
    assigned, submitted = folder / f"assigned-{chapter}", folder / f"submitted-{chapter}"
    make_assignment([chapter], assigned, only_exercises=only_exercises)
    assignment = read_assignment(assigned)
    for one in assignment.notebooks:
        (submitted / "solution").mkdir(parents=True, exist_ok=True)
        shutil.copy(assigned / "nbgrader" / "source" / assignment.name / one.file, submitted / "solution" / one.file)
    began = time.monotonic()
    made = grade(assigned, submitted, folder / f"{chapter}.answers.jsonl", workers=1)
    seconds = time.monotonic() - began
    kind = "exercises" if only_exercises else "chapter"
    print(f"{kind} {chapter:>2}: {made.points('solution'):g} of {assignment.points:g} points, ", end="")
    print(f"{len(made.answers)} answers in {seconds:.0f} s", flush=True)
    for one in made.answers:
        if one.points != one.exercise.points or one.look:
            print(f"  {one.exercise.number}: {one.verdict}. {one.said[:200]} {'; '.join(one.look)}", flush=True)
    return made.points("solution") == assignment.points


if __name__ == "__main__":
    words = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        alone = "--only-exercises" in words
        chosen = [word for word in words if not word.startswith("--")] or CHAPTERS
        sys.exit(not all([graded(chapter, Path(place), alone) for chapter in chosen]))
