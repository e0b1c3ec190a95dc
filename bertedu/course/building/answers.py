"""The two versions of a notebook differ in the cells of exercises only: those are run apart, everything else once."""

from copy import deepcopy
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from bertedu.course.building.executing import execute
from bertedu.course.building.needs import needed_by, statements
from bertedu.course.building.versions import KERNEL


def differs(cell: NotebookNode) -> bool:
    """Whether a cell may show something else in the other version."""
    return cell.cell_type == "code" and "exercise" in cell.metadata.get("tags", [])


def only_checks(notebook: NotebookNode) -> bool:
    """Whether every cell that may differ is an answer with its check, and none shows what an answer computes. A
    notebook that registers exercises of its own is run whole."""
    registers = any("@exercise(" in cell.source for cell in notebook.cells if cell.cell_type == "code")
    return not registers and all("check(" in cell.source for cell in filter(differs, notebook.cells))


def run_answers(notebook: NotebookNode, folder: Path, name: str) -> None:
    """Run the answers of a notebook and their checks, each after the statements that it needs and no others. Their
    outputs are put into the notebook, in place. Raises UserError where a cell fails."""
    everything = statements(notebook.cells)
    apart = new_notebook(metadata={"kernelspec": KERNEL})
    ran: set[int] = set()
    for place, cell in enumerate(notebook.cells):
        if differs(cell):
            before = sorted(needed_by(place, everything) - ran)
            ran |= set(before)
            apart.cells += [new_code_cell("\n".join(everything[one].code for one in before)), deepcopy(cell)]
    execute(apart, folder, name)
    answers = iter(apart.cells[1::2])
    for cell in filter(differs, notebook.cells):
        cell.outputs = next(answers).outputs
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count


def learner_from(solution: NotebookNode, learner: NotebookNode, folder: Path, name: str) -> None:
    """Fill a learner's notebook, in place: stubs are run, all other outputs are the solution's."""
    stored = {cell.id: cell for cell in solution.cells if cell.cell_type == "code"}
    for cell in learner.cells:
        if cell.cell_type == "code":
            cell.execution_count = stored[cell.id].execution_count
            cell.outputs = [] if differs(cell) else deepcopy(stored[cell.id].outputs)
    run_answers(learner, folder, name)
