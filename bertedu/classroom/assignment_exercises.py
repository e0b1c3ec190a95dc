"""The exercises of a chapter without the chapter: with the imports and the helper cells that their code needs."""

import ast
import builtins
import re
import symtable
from collections.abc import Iterator
from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from bertedu.course.building.versions import BEGIN, name_cells
from bertedu.errors import UserError

HEADING = re.compile(r"^### Exercise \d+\.\d+ ", flags=re.MULTILINE)
OPENING = """\
{title}: exercises

These are the exercises of the chapter [{title_text}]({file}) with the code that they need. The chapter explains \
what they are about. Each answer has a cell, and below it stands the cell that examines it: run both, as often as you \
like. `hint("{number}")` helps if you are stuck."""


def exercises_only(notebook: NotebookNode, file: str) -> NotebookNode:
    """The notebook's exercises: the text from each heading on, the cells up to the answer, and before them what these
    use, in the order of the chapter."""
    cells = notebook.cells
    kept: dict[int, NotebookNode] = {}
    for place, cell in enumerate(cells):
        if cell.cell_type == "code" and BEGIN in cell.source:
            kept |= section(cells, place, file)
    needed, imports = what_they_need(cells, [place for place in kept if cells[place].cell_type == "code"])
    kept |= {place: deepcopy(cells[place]) for place in needed}
    opening = new_markdown_cell(opening_of(cells, file))
    helpers = [new_code_cell("\n".join(imports))] if imports else []
    made = NotebookNode({**deepcopy(notebook), "cells": [opening, *helpers, *(kept[place] for place in sorted(kept))]})
    name_cells([*made.cells[: 1 + len(helpers)]])
    return made


def section(cells: list[NotebookNode], answer: int, file: str) -> dict[int, NotebookNode]:
    """The cells from an exercise's heading to its answer, and the explained solution after it."""
    for start in range(answer, -1, -1):
        heading = HEADING.search(cells[start].source) if cells[start].cell_type == "markdown" else None
        if heading:
            break
    else:
        raise UserError(f"{file}: the exercise in cell {answer + 1} has no heading (### Exercise 3.2 · Title).")
    found = {place: deepcopy(cells[place]) for place in range(start, answer + 1)}
    found[start].source = cells[start].source[heading.start() :]
    after = answer + 1
    if after < len(cells) and "solution" in cells[after].metadata.get("tags", []):
        found[after] = deepcopy(cells[after])
    return found


def opening_of(cells: list[NotebookNode], file: str) -> str:
    """The first cell: the chapter's title, and what this notebook is."""
    title = cells[0].source.splitlines()[0]
    number = next(m[0].split()[2] for cell in cells if (m := HEADING.search(cell.source)))
    return OPENING.format(title=title, title_text=title.lstrip("# "), file=file, number=number)


def what_they_need(cells: list[NotebookNode], places: list[int]) -> tuple[set[int], list[str]]:
    """The places of the earlier cells that define a name which the code at these places uses (and of those that these
    use in turn), and the import statements for the other names."""
    needed: set[int] = set()
    imports: dict[str, int] = {}
    waiting = list(places)
    while waiting:
        place = waiting.pop()
        for name in uses(cells[place].source):
            where, statement = definition(cells, place, name)
            if statement:
                imports.setdefault(statement, where)
            elif where >= 0 and where not in needed and where not in places:
                needed.add(where)
                waiting.append(where)
    return needed, in_order(imports)


def in_order(imports: dict[str, int]) -> list[str]:
    """Import statements in the order of their cells: plain ones, then `from … import …`."""
    return sorted(imports, key=lambda statement: (statement.startswith("from"), statement))


def definition(cells: list[NotebookNode], place: int, name: str) -> tuple[int, str]:
    """The place of the last cell before this one that binds a name, and the import statement where that is one;
    (-1, "") where no cell does."""
    for before in range(place - 1, -1, -1):
        if cells[before].cell_type != "code":
            continue
        for node in reversed(ast.parse(cells[before].source).body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    if name == (alias.asname or alias.name.partition(".")[0]):
                        return before, ast.unparse(type(node)(**{**vars(node), "names": [alias]}))
            elif name in binds(node):
                return before, ""
    return -1, ""


def binds(statement: ast.stmt) -> set[str]:
    """The names that a statement at the left margin gives a value."""
    table = symtable.symtable(ast.unparse(statement), "cell", "exec")
    return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_namespace()}


def uses(code: str) -> set[str]:
    """The global names that code reads, in its functions and classes too, without those of Python itself and those that
    an import of its own binds."""
    table = symtable.symtable(code, "cell", "exec")
    own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_imported()}
    return {name for name in global_names(table) if name not in own and not hasattr(builtins, name)}


def global_names(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that a scope and those inside it look up outside their functions."""
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from global_names(inner)
