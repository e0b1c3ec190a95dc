"""One source, two notebooks: the solved one, and the learner's, where a stub stands for each answer."""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions

from bertedu.course.building.pictures import seen_from_below
from bertedu.course.stubs import is_stub, is_text
from bertedu.errors import UserError
from bertedu.files import read_text

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
STUB = "raise NotImplementedError  # Your turn: write this, then run the cell."
GUESS = "...  # Your turn: replace the three dots, then run the cell."
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python"}
KEPT = ("tags", "jupyter", "nbgrader", "slideshow")  # what a cell may say of itself; anything else is an editor's own


def read_source(path: Path) -> NotebookNode:
    """A py:percent file as a notebook with stable ids, and no metadata of its cells but what is KEPT."""
    notebook = jupytext.reads(read_text(path), fmt="py:percent")
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL), language_info=NotebookNode(LANGUAGE))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.metadata = kept_metadata(cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    name_cells(notebook.cells)
    return notebook


def kept_metadata(cell: NotebookNode) -> NotebookNode:
    """The cell's metadata as it is stored. The tag `hide-input` collapses a code cell in JupyterLab too; the
    website reads the tag itself."""
    kept = NotebookNode({name: cell.metadata[name] for name in KEPT if cell.metadata.get(name)})
    if cell.cell_type == "code" and "hide-input" in kept.get("tags", []):
        kept.jupyter = NotebookNode({**kept.get("jupyter", {}), "source_hidden": True})
    return kept


def name_cells(cells: Iterable[NotebookNode]) -> None:
    """Give each cell an id made from its content, so that an edit changes the id of one cell only."""
    seen: Counter[str] = Counter()
    for cell in cells:
        name = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:10]
        seen[name] += 1
        cell.id = name if seen[name] == 1 else f"{name}-{seen[name]}"


def solution_version(source: NotebookNode) -> NotebookNode:
    """The notebook with every exercise solved, its marks kept. It lies one folder below the learner's."""
    notebook = deepcopy(source)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = seen_from_below(cell.source)
    return notebook


def learner_version(source: NotebookNode, path: Path) -> NotebookNode:
    """The notebook with a stub in place of every answer, and without the cells tagged `solution`."""
    notebook = deepcopy(source)
    notebook.cells = [cell for cell in notebook.cells if "solution" not in cell.metadata.get("tags", [])]
    for cell in notebook.cells:
        if cell.cell_type == "code" and BEGIN in cell.source:
            clear(cell, path)
    return notebook


def clear(cell: NotebookNode, path: Path) -> None:
    """Let nbgrader put the stub in: an error to raise inside a function, three dots for a value outside."""
    stub = stub_for(cell.source, path)
    settings: dict[str, Any] = {"code_stub": {"python": stub}, "enforce_metadata": False}
    preprocessor = ClearSolutions(
        begin_solution_delimeter=BEGIN.lstrip("# "), end_solution_delimeter=END.lstrip("# "), **settings
    )
    first_line = cell.source.splitlines()[0]
    try:
        preprocessor.preprocess_cell(cell, {"language": "python"}, 0)
        problem = misplaced_stub(cell.source)
    except (RuntimeError, SyntaxError) as error:
        problem = str(error)
    if problem:
        raise UserError(f"{path}, the cell that begins with {first_line!r}: {problem}.")


def stub_for(code: str, path: Path) -> str:
    """What stands in for the answer in this cell."""
    if not re.search(rf"^{BEGIN}", code, flags=re.MULTILINE):
        return STUB
    region = re.search(rf"^{BEGIN}[^\n]*\n(.*?)^{END}", code, flags=re.MULTILINE | re.DOTALL)
    if region is None or code.count(BEGIN) > 1:
        raise UserError(f"{path}: a value's cell needs one {BEGIN} and one {END}, and nothing between but the value.")
    assigned = [
        ast.unparse(target)
        for statement in ast.parse(region[1]).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    ]
    if len(assigned) != 1:
        raise UserError(
            f"{path}: outside a function the solution is one assignment, as `guess = 4`; "
            f"found {len(assigned)} in {region[1].strip()!r}."
        )
    return f"{assigned[0]} = {GUESS}"


def misplaced_stub(code: str) -> str | None:
    """A sentence where a stub would stop the whole notebook (it is not inside a function), or would be taken for a
    line that was left beside an answer (its function has other statements)."""
    tree = ast.parse(code)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {id(node) for function in functions for node in ast.walk(function) if isinstance(node, ast.Raise)}
    outside = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and id(node) not in inside]
    if outside:
        return f"the stub on line {outside[0].lineno} is not inside a function"
    for function in functions:
        statements = [node for node in function.body if not is_text(node)]
        if len(statements) > 1 and any(map(is_stub, statements)):
            return f"{function.name} has other lines beside its stub: put them into a function of their own"
    return None
