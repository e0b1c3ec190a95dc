"""A notebook without some of its exercises."""

import re
from collections.abc import Collection

from nbformat import NotebookNode

from bertedu.classroom.assignment_exercises import LAB, SECTION, last_heading
from bertedu.classroom.course_text import Remark
from bertedu.course.building.needs import statements
from bertedu.course.building.rules import CHECK, HEADING
from bertedu.course.building.versions import BEGIN
from bertedu.course.statements import uses
from bertedu.errors import UserError


def leave_out(notebook: NotebookNode, numbers: Collection[str], where: str) -> list[Remark]:
    """Take exercises out of a solved notebook: from the heading to the check, and the explained solution.

    Code between that later cells use stays. Returns remarks on what still speaks of them; raises UserError where
    another exercise uses an answer.
    """
    gone: set[int] = set()
    remarks = []
    for number in sorted(numbers):
        heading, answer = cells_of(notebook, number, where)
        cell = notebook.cells[heading]
        place = next(found.start() for found in HEADING.finditer(cell.source) if found[1] == number)
        section, title = last_heading(notebook.cells, heading, SECTION)
        if title and title[0].startswith(LAB):
            line = notebook.cells[section].source.count("\n", 0, title.start())
            remarks.append(Remark(notebook.cells[section].id, line, f"this lab stays, without exercise {number}."))
        before, rest = cell.source[:place].rstrip(), following(cell.source[place:])
        gone |= {at for at in range(heading + 1, answer + 1) if is_part(notebook, at, answer)}
        if answer + 1 < len(notebook.cells) and "solution" in notebook.cells[answer + 1].metadata.get("tags", []):
            gone.add(answer + 1)
        cell.source = "\n\n".join(filter(None, (before, rest)))
        if not cell.source:
            gone.add(heading)
    kept_imports = imports_in_use(notebook, gone)
    refuse_dependent(notebook, gone, where)
    kept = [kept_imports.get(at, cell) for at, cell in enumerate(notebook.cells) if at not in gone - set(kept_imports)]
    for cell in kept if numbers else ():
        pattern = "|".join(map(re.escape, sorted(numbers)))
        for found in re.finditer(rf"(?<![\d.])(?:{pattern})(?![\d.]\d|\d)", cell.source):
            if re.search(r"(?i)(exercises?|hint\(.|check\(.|and|to) *$", cell.source[: found.start()]):
                line = cell.source.count("\n", 0, found.start())
                remarks.append(Remark(cell.id, line, f"exercise {found[0]}, which is left out, is still named here."))
    notebook.cells = kept
    return remarks


def following(text: str) -> str:
    """What follows an exercise's text in its cell: from the next section on."""
    found = re.search(r"\n(#{2,3} .*)", text, flags=re.DOTALL)
    return found[1] if found else ""


def cells_of(notebook: NotebookNode, number: str, where: str) -> tuple[int, int]:
    """The positions of the cell with an exercise's heading, and of the one that checks the answer."""
    headings = [
        at
        for at, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown" and any(found[1] == number for found in HEADING.finditer(cell.source))
    ]
    checks = [
        at
        for at, cell in enumerate(notebook.cells)
        if cell.cell_type == "code"
        and "exercise" in cell.metadata.get("tags", [])
        and any(found[1] == number for found in CHECK.finditer(cell.source))
    ]
    if not headings or not checks or headings[0] > checks[-1]:
        raise UserError(f"{where}: exercise {number} has no heading, or no cell below it that checks it.")
    return headings[0], checks[-1]


def is_part(notebook: NotebookNode, at: int, answer: int) -> bool:
    """Whether a cell between an exercise's heading and its check goes with it: all but code that later cells use."""
    cell = notebook.cells[at]
    if cell.cell_type != "code" or BEGIN in cell.source or at == answer:
        return True
    binds = set().union(*(one.binds for one in statements([cell])))
    later = "\n".join(one.source for one in notebook.cells[answer + 1 :] if one.cell_type == "code")
    return not binds & uses(later)


def imports_in_use(notebook: NotebookNode, gone: Collection[int]) -> dict[int, NotebookNode]:
    """For cells that go and import what others use, by their positions: a cell with these imports only."""
    everything = statements(notebook.cells)
    found = {}
    for at in gone:
        cell = notebook.cells[at]
        later = "\n".join(one.code for one in everything if one.cell not in gone and one.cell > at)
        lines = [one.code for one in everything if one.cell == at and one.is_import and one.binds & uses(later)]
        if lines:
            found[at] = NotebookNode({**cell, "source": "\n".join(lines), "metadata": NotebookNode()})
    return found


def refuse_dependent(notebook: NotebookNode, gone: set[int], where: str) -> None:
    """Raise UserError where a cell that stays uses what only a cell that goes defines."""
    everything = statements(notebook.cells)
    for use in everything:
        if use.cell in gone:
            continue
        for name in uses(use.code):
            bound = [one.cell for one in everything if name in one.binds and not one.is_import]
            if any(name in one.binds for one in everything if one.is_import):
                continue
            if bound and set(bound) <= gone:
                first = use.code.splitlines()[0]
                raise UserError(f"{where}: `{name}` comes from an exercise that is left out, and {first!r} uses it.")
