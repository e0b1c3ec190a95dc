"""Guesses: the reader guesses, then runs the cell (tag `guess`). Nothing tells the answer before that.

The learner's notebook is stored without the outputs of these cells. They stand in the solution version, and are put
back for the comparison (`pytest --nbval`, see conftest.py).
"""

import re
from collections.abc import Iterator
from copy import deepcopy

from nbformat import NotebookNode

TAG = "guess"
FOLDED = re.compile(r"<details.*?</details>", flags=re.DOTALL)
OF_AN_EXERCISE = re.compile(r"^(?:### Exercise|[●○]{4}|\*\*Time:\*\*).*$", flags=re.MULTILINE)  # and its minutes
ADDRESS = re.compile(r"\]\([^)\s]*\)")  # of a link or a picture
EXPECTED = re.compile(r"\babout\((?!\s*f?[\"'])[^,]*,")  # a number that the code expects, and not its name
NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
FEWEST_CHARACTERS = 2  # a single digit stands everywhere, and gives nothing away


def is_guess(cell: NotebookNode) -> bool:
    """Whether the reader guesses what this cell will show."""
    return cell.cell_type == "code" and TAG in cell.metadata.get("tags", [])


def withhold(notebook: NotebookNode) -> None:
    """Take the outputs of guesses out of a learner's notebook: the cells look as if they had not been run."""
    for cell in filter(is_guess, notebook.cells):
        cell.outputs, cell.execution_count = [], None


def with_answers(learner: NotebookNode, solution: NotebookNode) -> NotebookNode:
    """A copy of a learner's notebook for the comparison, with what its guesses show in the solution version."""
    complete = deepcopy(learner)
    shown = {cell.id: cell for cell in filter(is_guess, solution.cells)}
    for cell in filter(is_guess, complete.cells):
        if cell.id in shown:
            cell.outputs, cell.execution_count = deepcopy(shown[cell.id].outputs), shown[cell.id].execution_count
    return complete


def spoiled(solution: NotebookNode) -> Iterator[str]:
    """A sentence for each guess whose answer stands in its own code, in visible text since the guess before, or in the
    text after it.

    The answer is every number that the cell shows and does not compute with.
    """
    texts: list[str] = []
    cells = solution.cells
    for place, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            texts.append(told(cell.source))
        if not is_guess(cell):
            continue
        following = cells[place + 1] if place + 1 < len(cells) else None
        after = told(following.source) if following is not None and following.cell_type == "markdown" else ""
        answer = numbers("".join(map(said, cell.outputs))) - numbers(EXPECTED.sub("", cell.source))
        written = numbers("\n".join([*texts, after])) | numbers(" ".join(EXPECTED.findall(cell.source)))
        if found := sorted(answer & written):
            first = cell.source.strip().splitlines()[0]
            yield f"the guess that begins with {first!r} is answered before or right after it: {', '.join(found)}"
        texts = []


def visible(text: str) -> str:
    """What a reader sees of a Markdown text without unfolding anything, headings of exercises left out."""
    return OF_AN_EXERCISE.sub("", FOLDED.sub("", text))


def told(text: str) -> str:
    """What is visible of a Markdown text, without the addresses of its links and pictures."""
    return ADDRESS.sub("]", visible(text))


def numbers(text: str) -> set[str]:
    """The numbers in a text that could be an answer, as they are written."""
    return {number for number in NUMBER.findall(text) if len(number) >= FEWEST_CHARACTERS}


def said(output: NotebookNode) -> str:
    """The text of an output."""
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
