"""The course's own solutions as answers, read from the chapters' sources as text."""

import ast
import re
from functools import cache

from bertedu.course.keeping import Answer
from bertedu.course.parts import PARTS
from bertedu.course.rooms import CHAPTERS, chapter_of, number_of, sources_in
from bertedu.course.sources import one_import
from bertedu.course.statements import Statement, statements, uses
from bertedu.errors import UserError
from bertedu.files import read_text

MARK = re.compile(r" *### (?:BEGIN|END) SOLUTION\n")


def solutions() -> dict[str, Answer]:
    """The solution of every part, by exercise. Raises UserError where a chapter has none."""
    sources = {number_of(path): path for path in sources_in(CHAPTERS)}
    return {
        part.number: solution_in(read_text(sources[chapter_of(part.number)]), part.number, part.name) for part in PARTS
    }


@cache
def solution_in(source: str, number: str, name: str) -> Answer:
    """The solution of an exercise in the source of its chapter, with the imports that it uses."""
    cells = re.split(r"(?m)^# %%.*\n", source)
    own = next((cell for cell in cells if f'check("{number}"' in cell), "")
    everything = [one for place, cell in enumerate(cells) if not cell.startswith("#") for one in code(place, cell)]
    answer = next((one for one in code(0, MARK.sub("", own)) if name in one.binds), None)
    if answer is None:
        raise UserError(f"the source of chapter {chapter_of(number)} has no {name}: install the course anew.")
    imports = []
    for used in sorted(uses(answer.code), key=answer.code.find):
        for one in everything:
            if used in one.binds and isinstance(one.node, ast.Import | ast.ImportFrom):
                imports.append(one_import(used, one.node))
                break
    return Answer(name, imports, [answer.code], "")


def code(place: int, cell: str) -> list[Statement]:
    """The statements of a cell; none where it is no Python, as with magics."""
    try:
        return statements([(place, cell)])
    except SyntaxError:
        return []
