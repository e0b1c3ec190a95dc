"""Three students of chapter 3, graded by nbgrader's own commands and by `bertedu grade`.

python benchmarks/grading_nbgrader.py FOLDER

Both must give the same points, in the submissions and in the gradebook. FOLDER is made and kept, for the formgrader.
"""

import shutil
import sys
from pathlib import Path

import nbformat
from assignments import HALF, nbgrader, write_answers
from nbgrader.api import Gradebook

from bertedu.classroom.assignment import make_assignment
from bertedu.classroom.assignment_file import read_assignment
from bertedu.classroom.grading.grading import grade
from bertedu.classroom.grading.results import write_results

OTHER = """\
def attention(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5
    shares = torch.softmax(scores, -1)
    return torch.matmul(shares, value), shares
"""
STUDENTS = {
    "right": {},
    "otherwise": {
        "answer-3-2": OTHER,
        "answer-3-3": "def merge_heads(x):\n    return x.permute(0, 2, 1, 3).flatten(2)",
        "answer-3-4": "def masked_softmax(scores, keep):\n    return scores.softmax(-1) * keep",
    },
    "mixed": {
        "answer-3-1": "weight_of_lamp = 0.5",
        "answer-3-2": HALF,
        "answer-3-3": "def merge_heads(x):\n    return x.flatten(-2)",
        "answer-3-4": "def masked_softmax(scores, keep:",
        "answer-3-5": "def padding_mask(*anything):\n    raise NotImplementedError",
    },
}


def points_in(path: Path, name: str, notebook: str) -> dict[str, dict[str, float]]:
    """Each student's points by the check's cell, as a gradebook has them."""
    with Gradebook(f"sqlite:///{path}") as book:
        found = {one: book.find_submission_notebook(notebook, name, one) for one in STUDENTS}
        return {one: {grade.name: grade.score for grade in submitted.grades} for one, submitted in found.items()}


def main(root: Path) -> bool:
    """Run the whole; whether all points were the same."""
    root.mkdir(parents=True)
    make_assignment(["3"], root / "made", only_exercises=True, almost=0.5)
    made = read_assignment(root / "made")
    course, exchange, file = root / "made" / "nbgrader", root / "exchange", made.notebooks[0].file
    exchange.mkdir(mode=0o777)
    settings = course / "nbgrader_config.py"
    settings.write_text(settings.read_text() + f"c.Exchange.root = {str(exchange)!r}\n")
    solved = nbformat.read(course / "source" / made.name / file, as_version=4)
    nbgrader(course, "generate_assignment", made.name, "--force")
    nbgrader(course, "release_assignment", made.name)
    for student, answers in STUDENTS.items():
        home = root / student
        home.mkdir()
        (home / "nbgrader_config.py").write_text(settings.read_text())
        nbgrader(home, "fetch_assignment", made.name)
        write_answers(home / made.name / file, solved, answers)
        nbgrader(home, "submit", made.name, f"--student={student}")
    nbgrader(course, "collect", made.name)
    nbgrader(course, "autograde", made.name)
    theirs = points_in(course / "gradebook.db", made.name, Path(file).stem)
    shutil.copy(course / "gradebook.db", root / "ours.db")
    graded = grade(root / "made", course, root / "grades.answers.jsonl", workers=1)
    for line in write_results(graded, root / "grades.csv", root / "ours.db"):
        print(line)
    ours = {one: {answer.exercise.check_cell: answer.points for answer in graded.of(one)} for one in STUDENTS}
    kept = points_in(root / "ours.db", made.name, Path(file).stem)
    for student in STUDENTS:
        print(f"{student}\n  nbgrader       {theirs[student]}\n  bertedu grade  {ours[student]}")
        print(f"  our gradebook  {kept[student]}")
    return theirs == ours == kept


if __name__ == "__main__":
    same = main(Path(sys.argv[1]).resolve())
    print("the same points everywhere" if same else "NOT the same points")
    sys.exit(not same)
