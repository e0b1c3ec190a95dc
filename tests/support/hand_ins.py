"""An assignment of one exercise, and what students hand in for it."""

import hashlib
import json
from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook

from bertedu.classroom.assignment_file import AssignedExercise, AssignedNotebook, Assignment, write_assignment
from bertedu.files import write_text

FILE = "03_self_attention.ipynb"

STUB = "def merge_heads(x):\n    raise NotImplementedError"

RIGHT = "def merge_heads(x):\n    return x.transpose(1, 2).flatten(-2)"

WRONG = "def merge_heads(x):\n    return x.flatten(-2)"


def notebook(answer: str, **other: str) -> dict:
    about = {"grade_id": "answer-3-3", "solution": True, "grade": False, "locked": False, "schema_version": 3}
    helper = new_code_cell("def swapped(x):\n    return x.transpose(1, 2)", id="helper")
    check = new_code_cell('check("3.3", merge_heads)', metadata={"nbgrader": {**about, "grade_id": "check-3-3"}})
    written = new_code_cell(answer, metadata={"nbgrader": about}, id="answer")
    return new_notebook(cells=[helper, written, check, *(new_code_cell(code, id=name) for name, code in other.items())])


def save_assignment(folder: Path) -> Path:
    """The folder of an assignment, as `bertedu assignment` writes it."""
    write_text(folder / "release" / FILE, json.dumps(notebook(STUB)))
    digest = hashlib.sha256((folder / "release" / FILE).read_bytes()).hexdigest()
    one = AssignedExercise("3.3", "Heads", "function", 2, 2.0, FILE, "answer-3-3", "check-3-3", "merge_heads")
    files = (AssignedNotebook("03", FILE, digest),)
    write_assignment(folder, Assignment("heads", "0.1.0", ("03",), False, None, 0.0, files, (one,)))
    return folder


def hand_in(place: Path, student: str, made: dict) -> None:
    write_text(place / student / FILE, json.dumps(made))
