"""The cells of an assignment: answers and their checks apart, each with what nbgrader wants to know of it."""

import ast
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import ClearSolutions

from bertedu.course.building.versions import BEGIN, clear
from bertedu.course.exercise import Exercise
from bertedu.course.loading import find, is_known
from bertedu.errors import UserError

SCHEMA = 3  # of nbgrader's metadata
# What nbgrader calls hidden tests is in the teacher's version only, and is put back before a submission is graded.
HIDDEN = "### BEGIN HIDDEN TESTS"
CHECK = """\
from bertedu.classroom.scoring import check
{hidden}
import sys
del sys.modules["bertedu.classroom.scoring"]
from bertedu.classroom.scoring import scored
check = scored(points={points:g}, almost={almost:g}{variant})
### END HIDDEN TESTS

{call}"""


@dataclass(frozen=True)
class Graded:
    """An exercise as it stands in a notebook: its points, the ids of its cells, and the name that is checked."""

    exercise: Exercise
    points: float
    answer_cell: str
    check_cell: str
    answer: str


def with_graded_cells(
    notebook: NotebookNode, points: Mapping[str, float], almost: float, where: str, variant: str = ""
) -> tuple[NotebookNode, list[Graded]]:
    """The solved notebook with a cell for each answer and a locked one for its check, as nbgrader's source wants them,
    and the exercises in it.

    points holds those that the teacher has chosen, by number; else an author's own stand, else the difficulty.
    """
    made: list[NotebookNode] = []
    graded = []
    for cell in deepcopy(notebook.cells):
        call = check_of(cell)
        if call is None:
            made.append(cell)
            continue
        exercise = find(ast.literal_eval(call.args[0]))
        made += divided(cell, exercise) if BEGIN in cell.source else [cell]  # one is an author's own division
        answer, judged = answer_before(made, f"{where}, exercise {exercise.number}"), made[-1]
        about = judged.metadata.nbgrader
        about.points = points.get(exercise.number, about.get("points", exercise.difficulty))
        if judged is not answer and HIDDEN not in judged.source:
            before, asked = at_the_last_line(judged)
            judged.source = before + CHECK.format(
                hidden=HIDDEN,
                points=about.points,
                almost=almost,
                variant=f', variant="{variant}"' if variant else "",
                call=asked,
            )
        ids = answer.metadata.nbgrader.grade_id, about.grade_id
        graded.append(Graded(exercise, about.points, *ids, ast.unparse(call.args[1])))
    for cell in made:
        MetadataValidator().upgrade_cell_metadata(cell)
    return NotebookNode({**notebook, "cells": made}), graded


def check_of(cell: NotebookNode) -> ast.Call | None:
    """The call `check("3.2", attention)` that ends a cell with an answer, or one that an author has marked as graded;
    None for any other cell."""
    marked = cell.metadata.get("nbgrader", {}).get("grade")
    if cell.cell_type != "code" or not (BEGIN in cell.source or marked):
        return None
    last = ast.parse(cell.source).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "check" or len(call.args) != 2:
        return None
    number = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
    return call if isinstance(number, str) and is_known(number) else None


def divided(cell: NotebookNode, exercise: Exercise) -> list[NotebookNode]:
    """The answer's cell and the check's. What the source says of nbgrader counts more than what is said here; where it
    wants an answer graded by hand (`grade` and `solution`), the cell stays one."""
    name = exercise.number.replace(".", "-")
    own = {**cell.metadata.get("nbgrader", {})}
    of_check = {} if own.get("grade") or "points" not in own else {"points": own.pop("points")}
    cell.metadata.nbgrader = about(grade=False, solution=True, locked=False, grade_id=f"answer-{name}") | own
    if cell.metadata.nbgrader.grade:
        return [cell]
    check = deepcopy(cell)
    check.id = f"{cell.id}-check"
    check.metadata.nbgrader = about(grade=True, solution=False, locked=True, grade_id=f"check-{name}", **of_check)
    before, check.source = at_the_last_line(cell)
    cell.source = before.rstrip()
    return [cell, check]


def about(**facts: Any) -> NotebookNode:
    """What nbgrader wants to know of a cell."""
    return NotebookNode({"schema_version": SCHEMA, "task": False, **facts})


def at_the_last_line(cell: NotebookNode) -> tuple[str, str]:
    """The code of a cell up to its last statement, and that."""
    lines = cell.source.splitlines(keepends=True)
    start = ast.parse(cell.source).body[-1].lineno - 1
    return "".join(lines[:start]), "".join(lines[start:])


def answer_before(cells: list[NotebookNode], where: str) -> NotebookNode:
    """The last cell with an answer."""
    for cell in reversed(cells):
        if cell.metadata.get("nbgrader", {}).get("solution"):
            return cell
    raise UserError(f'{where}: its check is graded, and no cell before it is marked as nbgrader={{"solution": true}}.')


class ClearAnswers(ClearSolutions):
    """nbgrader's step that takes solutions out, with the course's stubs: what learners get runs from top to bottom.

    Folded explanations go, and so do the outputs of exercises; other outputs stay.
    """

    def preprocess(self, notebook: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """The notebook as learners get it."""
        notebook.cells = [cell for cell in notebook.cells if "solution" not in cell.metadata.get("tags", [])]
        return super().preprocess(notebook, resources)

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> tuple[NotebookNode, Any]:
        """A cell as learners get it."""
        if cell.cell_type == "code" and "exercise" in cell.metadata.get("tags", []):
            cell.outputs, cell.execution_count = [], None
        if cell.cell_type == "code" and BEGIN in cell.source:
            clear(cell, Path(resources.get("unique_key", "notebook")))
            return cell, resources
        return super().preprocess_cell(cell, resources, index)
