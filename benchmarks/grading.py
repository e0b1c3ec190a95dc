"""Grade sixty submissions of chapters 3 and 6, right, wrong and cheating: python benchmarks/grading.py [FOLDER]

Prints a table: every right answer has full points, every mistake hears its sentence, no cheat has points. Takes some
minutes. On its own it makes the assignment, the submissions and the results in a folder that it removes.
"""

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from grading_answers import write_students

from bertedu.classroom.assignment import make_assignment
from bertedu.classroom.assignment_file import RELEASE, read_assignment
from bertedu.classroom.grading.grading import Class, grade
from bertedu.classroom.grading.results import write_results


def main(folder: Path) -> bool:
    """Run the whole; whether all was as it must be."""
    assigned, submitted, results = folder / "assigned", folder / "submissions", folder / "results"
    if not assigned.exists():
        make_assignment(["3", "6"], assigned)
    assignment = read_assignment(assigned)
    released = {
        one.file: json.loads((assigned / RELEASE / one.file).read_text("utf-8")) for one in assignment.notebooks
    }
    results.mkdir(parents=True, exist_ok=True)
    expected = write_students(submitted, results, released, assignment)
    began = time.monotonic()
    made = grade(assigned, submitted, results / "grades.answers.jsonl", workers=2)
    seconds = time.monotonic() - began
    for line in write_results(made, results / "grades.csv"):
        print(line)
    return report(made, expected, seconds)


def report(made: Class, expected: dict, seconds: float) -> bool:
    """Print the table, and each answer that was not judged as it must be."""
    counts: Counter = Counter()
    for one in made.answers:
        wanted, phrase = expected.get((one.student, one.exercise.number), ("nothing", ""))
        text = f"{one.exercise.number} · {one.verdict}. {one.said}"
        good = {
            "yes": one.verdict == "yes" and one.points == one.exercise.points,
            "wrong": one.verdict in ("not yet", "almost") and phrase in text and one.points == 0,
            "none": one.points == 0 and one.verdict in ("not yet", "please look"),
            "nothing": one.points == 0 and one.verdict == "not attempted yet",
        }[wanted]
        counts[wanted, good] += 1
        if wanted == "none" or not good:
            print(f"{'' if good else 'WRONG '}{one.student}, {one.exercise.number}: {one.verdict}. {one.said[:150]}")
    print("\n| answers | number | as they must be judged |\n|---|---|---|")
    names = {"yes": "right", "wrong": "mistakes", "none": "cheats", "nothing": "not attempted"}
    for kind, name in names.items():
        print(f"| {name} | {counts[kind, True] + counts[kind, False]} | {counts[kind, True]} |")
    print(f"\n{len(made.submissions)} submissions, {len(made.answers)} answers, {seconds:.0f} seconds with two workers")
    return not any(count for (_, good), count in counts.items() if not good)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(not main(Path(sys.argv[1]).resolve()))
    with tempfile.TemporaryDirectory() as place:
        sys.exit(not main(Path(place)))
