"""The exercises of a chapter without the chapter: with the imports and the helpers that their code needs."""

import ast
import re
from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from bertedu.course.building.needs import needed_by, statements
from bertedu.course.building.versions import BEGIN, name_cells
from bertedu.course.statements import Statement, uses
from bertedu.errors import UserError

HEADING = re.compile(r"^### Exercise \d+[a-z]?\.\d+ ", flags=re.MULTILINE)
SECTION = re.compile(r"^## .*", flags=re.MULTILINE)
LAB = "## Broken BERT"
OPENING = """\
{title}: exercises

These are the exercises of the chapter {name}, which explains what they are about, with the code that they need. \
Each answer has a cell, and below it stands the cell that examines it: run both, as often as you like. \
`hint("{number}")` helps if you are stuck."""
HELPERS = "# From the chapter: what the next exercise uses."
SHOWN = "In the chapter, this cell\n\n```python\n{code}\n```\n\n{printed}"


def exercises_only(notebook: NotebookNode, file: str) -> NotebookNode:
    """The notebook's exercises: the text from each heading on, the cells up to the answer, and before them the
    definitions that these use."""
    cells, everything = notebook.cells, statements(notebook.cells)
    made: list[NotebookNode] = []
    done, last = set[int](), -1
    imports = {("bertedu.course", "hint")}
    for answer, cell in enumerate(cells):
        if cell.cell_type == "code" and BEGIN in cell.source:
            section = cells_of(cells, answer, last + 1, file)
            last = max(section)
            code = [place for place, one in section.items() if one.cell_type == "code"]
            needed = set().union(*(needed_by(place, everything) for place in code))
            imports |= imports_for([*needed, *places_in(code, everything)], everything)
            own = [place for place in sorted(needed - done) if not everything[place].is_import]
            own = [place for place in own if everything[place].cell not in code]
            if own:
                made.append(new_code_cell("\n".join([HELPERS, *(everything[place].code for place in own)])))
            done |= needed | set(places_in(code, everything))
            made += section.values()
    opening = [new_markdown_cell(opening_of(cells)), new_code_cell("\n".join(imports_in_order(imports)))]
    new = NotebookNode({**deepcopy(notebook), "cells": [*opening, *made]})
    name_cells(one for one in new.cells if one.id not in {cell.id for cell in cells})
    return new


def places_in(cells: list[int], everything: list[Statement]) -> list[int]:
    """The positions of the statements of these cells."""
    return [place for place, statement in enumerate(everything) if statement.cell in cells]


def imports_for(places: list[int], everything: list[Statement]) -> set[tuple[str, str]]:
    """What is imported of the names that these statements use: (module, "name" or "name as other"), and for
    `import module` (module, "")."""
    names = set().union(*(uses(everything[place].code) for place in places)) - {"check", "hint"}
    found = set()
    for node in (statement.node for statement in everything):
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else []:
            if (alias.asname or alias.name.partition(".")[0]) in names:
                written = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                found.add((node.module or "", written) if isinstance(node, ast.ImportFrom) else (written, ""))
    return found


def imports_in_order(found: set[tuple[str, str]]) -> list[str]:
    """The lines: plain imports, then `from … import …`, one for each module."""
    modules = sorted({module for module, name in found if name})
    return [
        *(f"import {module}" for module, name in sorted(found) if not name),
        *(f"from {module} import {', '.join(sorted(n for m, n in found if m == module and n))}" for module in modules),
    ]


def cells_of(cells: list[NotebookNode], answer: int, first: int, file: str) -> dict[int, NotebookNode]:
    """The cells from an exercise's heading to its answer, and the explained solution after it. Of an exercise that
    repairs the broken BERT, before these, the lab that leads to it: read, not run. Nothing before the cell `first`."""
    start, heading = last_heading(cells, answer, HEADING)
    if heading is None:
        raise UserError(f"{file}: the exercise in cell {answer + 1} has no heading (### Exercise 3.2 · Title).")
    found = {place: deepcopy(cells[place]) for place in range(start, answer + 1)}
    lab, title = last_heading(cells, start, SECTION)
    if title and title[0].startswith(LAB):
        found |= {place: to_read(cells[place]) for place in range(max(lab, first), start)}
        if lab >= first:
            found[lab].source = found[lab].source[title.start() :]
    else:
        found[start].source = cells[start].source[heading.start() :]
    after = answer + 1
    if after < len(cells) and "solution" in cells[after].metadata.get("tags", []):
        found[after] = deepcopy(cells[after])
    return dict(sorted(found.items()))


def last_heading(cells: list[NotebookNode], place: int, heading: re.Pattern[str]) -> tuple[int, re.Match[str] | None]:
    """The position of the last cell up to this one that has such a heading, and the last such heading in it."""
    for before in range(place, -1, -1):
        if cells[before].cell_type == "markdown" and (found := list(heading.finditer(cells[before].source))):
            return before, found[-1]
    return 0, None


def to_read(cell: NotebookNode) -> NotebookNode:
    """A cell as text: its code, and what the chapter's cell has printed."""
    if cell.cell_type == "markdown":
        return deepcopy(cell)
    printed = "".join(output.get("text", "") for output in cell.get("outputs", []))
    printed += "".join(output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", []))
    said = f"prints:\n\n```text\n{printed.rstrip()}\n```" if printed.strip() else "prints nothing."
    return new_markdown_cell(SHOWN.format(code=cell.source, printed=said))


def opening_of(cells: list[NotebookNode]) -> str:
    """The first cell: the chapter's title, and what this notebook is."""
    title = cells[0].source.splitlines()[0]
    number = next(found[0].split()[2] for cell in cells if (found := HEADING.search(cell.source)))
    return OPENING.format(title=title, name=title.lstrip("# "), number=number)
