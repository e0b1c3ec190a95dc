"""The notebook of an assignment of variants: exercises that no public solution answers."""

from collections.abc import Sequence
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bertedu.classroom.variants import CHAPTERS, variants
from bertedu.course.building.versions import BEGIN, END, KERNEL, LANGUAGE, name_cells
from bertedu.course.rooms import number_of
from bertedu.course.variant import Variant, token_of
from bertedu.errors import UserError

FEWEST_CHARACTERS = 8
OPENING = """\
# {number} · Variants of the exercises

These exercises are like those of chapter {number}, with other numbers, another order of axes or another bug. They \
differ from class to class: read what is asked. Each answer has a cell, and below it stands the cell that examines it. \
`hint("{first}")` helps if you are stuck."""
START = """\
import torch

from bertedu.classroom.variants import use_variant
from bertedu.course import hint

use_variant("{token}")"""
ANSWER = """\
{signature}
    {begin}
    raise NotImplementedError  # no solution is stored
    {end}


check("{number}", {name})"""


def token_for(seed: str, sources: Sequence[Path]) -> str:
    """The token of an assignment of these chapters. Raises UserError where there are no variants, or for a seed that
    can be guessed."""
    chapters = list(map(number_of, sources))
    if without := sorted(set(chapters) - set(CHAPTERS)):
        raise UserError(f"chapter {without[0]} has no variants; these have: {', '.join(CHAPTERS)}.")
    if len(seed.strip()) < FEWEST_CHARACTERS:
        raise UserError(f"this seed can be guessed: give at least {FEWEST_CHARACTERS} characters.")
    return token_of(seed.strip(), " ".join(sorted(chapters)))


def variant_notebook(token: str, chapter: str) -> NotebookNode:
    """The variants of a chapter as a notebook, with stubs where a solution would be."""
    chosen = variants(token, (chapter,))
    opening = OPENING.format(number=chapter, first=chosen[0].exercise.number)
    cells = [new_markdown_cell(opening), new_code_cell(START.format(token=token))]
    for variant in chosen:
        cells += cells_of(variant)
    name_cells(cells)
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": LANGUAGE})


def cells_of(variant: Variant) -> list[NotebookNode]:
    """The program that is given, the text, and the answer's cell with its check."""
    one = variant.exercise
    heading = f"### Exercise {one.number} · {one.title}\n{one.dots} · {one.minutes} minutes\n\n{variant.text}"
    code = ANSWER.format(signature=variant.signature, begin=BEGIN, end=END, number=one.number, name=variant.name)
    given = [new_code_cell(variant.given)] if variant.given else []
    return [*given, new_markdown_cell(heading), new_code_cell(code, metadata={"tags": ["exercise"]})]
