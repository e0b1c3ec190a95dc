"""How much a reader can take in: the lines of a cell, their width, the cells of a notebook. Our own notebooks keep
these limits; to a teacher who writes notebooks of their own they are advice."""

from statistics import median

from nbformat import NotebookNode

MOST_LINES, MEDIAN_LINES = 25, 8
MOST_CHARACTERS = 96  # the width of a cell on a laptop
FEWEST_CELLS, MOST_CELLS = 35, 160


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Its cells with code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def begins(cell: NotebookNode) -> str:
    """A cell by its first line."""
    return f"the cell that begins with {cell.source.strip().splitlines()[0] if cell.source.strip() else ''!r}"


def lines(cell: NotebookNode) -> int:
    """The lines that are read: not the blank ones, which ruff's formatter puts around functions."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def long_cells(notebook: NotebookNode) -> list[str]:
    """Cells with more lines than can be followed, and too many that are nearly so long."""
    cells = code_cells(notebook)
    found = [f"{begins(c)} has {lines(c)} lines" for c in cells if lines(c) > MOST_LINES]
    middle = median(map(lines, cells)) if cells else 0
    return found + (
        [f"the median of its code cells is {middle} lines, over {MEDIAN_LINES}"] if middle > MEDIAN_LINES else []
    )


def wide_lines(notebook: NotebookNode) -> list[str]:
    """Lines of code that a reader has to scroll sideways for."""
    return [
        f"{begins(cell)} has a line of {len(line)} characters, and {MOST_CHARACTERS} fit: {line.strip()[:60]!r}"
        for cell in code_cells(notebook)
        for line in cell.source.splitlines()
        if len(line) > MOST_CHARACTERS
    ]


def wrong_size(notebook: NotebookNode) -> list[str]:
    """More cells than a chapter may have, or fewer than it has at least."""
    count = len(notebook.cells)
    fits = FEWEST_CELLS <= count <= MOST_CELLS
    return [] if fits else [f"it has {count} cells, and a chapter has {FEWEST_CELLS} to {MOST_CELLS}"]
