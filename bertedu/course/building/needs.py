"""Which statements of a notebook some code of it needs: the definitions of the names that it uses, and of theirs."""

from collections.abc import Iterable

from nbformat import NotebookNode

from bertedu.course import statements as code
from bertedu.course.statements import Statement, uses


def statements(cells: Iterable[NotebookNode]) -> list[Statement]:
    """All statements at the left margin of a notebook's code cells, in order, comments at their end included."""
    return code.statements((place, cell.source) for place, cell in enumerate(cells) if cell.cell_type == "code")


def needed_by(cell: int, everything: list[Statement]) -> set[int]:
    """The positions (in the list of all statements) of the earlier statements that a cell needs."""
    needed: set[int] = set()
    waiting = [place for place, statement in enumerate(everything) if statement.cell == cell]
    while waiting:
        place = waiting.pop()
        for name in uses(everything[place].code):
            found = {one for one in definition(name, place, everything) if everything[one].cell != cell} - needed
            needed |= found
            waiting += found
    return needed


def definition(name: str, place: int, everything: list[Statement]) -> list[int]:
    """The last statement before this one that binds a name; with it those of the same cell that change the object, and
    that set the seed for it."""
    for before in range(place - 1, -1, -1):
        if name in everything[before].binds:
            cell = everything[before].cell
            if everything[before].is_import:
                return [before]
            own = [one for one in range(place) if everything[one].cell == cell]
            changing = [one for one in own if one > before and everything[one].changes(name)]
            seeds = [one for one in own if one < before and everything[one].sets_the_seed][-1:]
            return [*seeds, before, *changing]
    return []
