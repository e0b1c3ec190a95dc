"""Runs the assignments of all chapters as nbgrader does, and takes one through nbgrader from release to gradebook.

    python benchmarks/assignments.py chapters     # each chapter's exercises: the stubs get 0 points, the solutions all
    python benchmarks/assignments.py cycle        # two students of chapter 3: exchange, autograde, feedback, gradebook

What was seen is in benchmarks/README.md.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbgrader.api import Gradebook
from nbgrader.utils import determine_grade, is_grade
from tqdm import tqdm

from bertedu.classroom.assignment import make_assignment
from bertedu.course.building.executing import ENVIRONMENT
from bertedu.course.building.places import Places

HALF = (
    "def attention(query, key, value):\n    weights = (query @ key.mT).softmax(-1)\n    return weights @ value, weights"
)
CHEAT = """\
import dataclasses
import bertedu.classroom.scoring as scoring
import bertedu.course.checking as checking
from bertedu.course.exercise import EXERCISES
from bertedu.course.verdict import Verdict

Verdict.passed = True
checking.check = checking.examine = lambda *given: Verdict("3.3", "yes")
for number, exercise in list(EXERCISES.items()):
    EXERCISES[number] = dataclasses.replace(exercise, examine=lambda case: None)
scoring.scored = lambda **given: lambda *given: None


def check(*given):
    return None


def merge_heads(x):
    get_ipython().displayhook(2.0)
    return x
"""
STUDENTS = {
    "right": {},
    "mixed": {
        "answer-3-1": "weight_of_lamp = 0.5",
        "answer-3-2": HALF,
        "answer-3-4": "def masked_softmax(scores, keep:",
    },
    "cheat": {"answer-3-1": "weight_of_lamp = ...", "answer-3-3": CHEAT, "check-3-3": "0"},
}
EXPECTED = {"right": [1, 2, 2, 3, 3], "mixed": [0, 1, 2, 0, 3], "cheat": [0, 2, 0, 3, 3]}  # 3.2: almost, half of it


def run_chapters() -> None:
    """A line for each chapter: seconds, and the points of the stubs and of the solutions."""
    os.environ.update(ENVIRONMENT)
    for source in tqdm(Places().all_sources()):
        with tempfile.TemporaryDirectory() as folder:
            made = make_assignment([source.name[:2]], Path(folder) / "made", only_exercises=True)
            file = made.notebooks[0].file
            line = [f"{source.name[:2]}  {len(made.exercises)} exercises  {made.points:3g} points"]
            for name, path in {"stubs": "release", "solutions": f"nbgrader/source/{made.name}"}.items():
                began = time.monotonic()
                points, failed = points_of(Path(folder) / "made" / path / file)
                line.append(f"{name}: {points:3g} points, {failed} cells failed, {time.monotonic() - began:3.0f} s")
            tqdm.write("  ".join(line))


def points_of(path: Path) -> tuple[float, int]:
    """What nbgrader gives a notebook, and how many of its cells raised. Stubs are graded by their words: learners'
    checks give none."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, allow_errors=True, kernel_name="python3").execute(cwd=str(path.parent))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    failed = sum(output.output_type == "error" for cell in code for output in cell.outputs)
    graded = [cell for cell in code if is_grade(cell)]
    return sum(0 if "not attempted yet" in str(cell.outputs) else determine_grade(cell)[0] for cell in graded), failed


def run_cycle() -> None:
    """Chapter 3 by the commands that a teacher and students type."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        made = make_assignment(["3"], root / "made", only_exercises=True, almost=0.5)
        course, exchange = root / "made" / "nbgrader", root / "exchange"
        exchange.mkdir(mode=0o777)
        settings = course / "nbgrader_config.py"
        settings.write_text(settings.read_text() + f"c.Exchange.root = {str(exchange)!r}\n")
        nbgrader(course, "generate_assignment", made.name, "--force")
        nbgrader(course, "release_assignment", made.name)
        solved = nbformat.read(course / "source" / made.name / made.notebooks[0].file, as_version=4)
        for student, answers in STUDENTS.items():
            home = root / student
            home.mkdir()
            (home / "nbgrader_config.py").write_text(settings.read_text())
            nbgrader(home, "fetch_assignment", made.name)
            write_answers(home / made.name / made.notebooks[0].file, solved, answers)
            nbgrader(home, "submit", made.name, f"--student={student}")
        for command in ("collect", "autograde", "generate_feedback", "export"):
            nbgrader(course, command, *([] if command == "export" else [made.name]))
        print((course / "grades.csv").read_text())
        with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
            for student, expected in EXPECTED.items():
                found = gradebook.find_submission_notebook(Path(made.notebooks[0].file).stem, made.name, student)
                points = {grade.name: grade.auto_score for grade in found.grades}
                print(student, json.dumps(points), "as expected" if [*points.values()] == expected else expected)


def write_answers(path: Path, solved: nbformat.NotebookNode, answers: dict[str, str]) -> None:
    """Fill a fetched notebook with the course's solutions, but where a student has written something else."""
    right = {cell.metadata.nbgrader.grade_id: cell.source for cell in solved.cells if "nbgrader" in cell.metadata}
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name in answers or name.startswith("answer"):
            cell.source = answers.get(name, right[name])
    nbformat.write(notebook, path)


def nbgrader(folder: Path, *words: str) -> None:
    """Run a command of nbgrader in a folder, and say how long it took."""
    began = time.monotonic()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **ENVIRONMENT, "PATH": path, "HOME": str(folder)}
    done = subprocess.run(["nbgrader", *words], cwd=folder, env=environment, capture_output=True, text=True)
    print(f"{time.monotonic() - began:5.0f} s  nbgrader {' '.join(words)}")
    if done.returncode:
        sys.exit(done.stderr)


if __name__ == "__main__":
    {"chapters": run_chapters, "cycle": run_cycle}[sys.argv[1]]()
