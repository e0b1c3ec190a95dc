"""Pictures in Markdown: files in notebooks/pictures/, named as they lie beside the learner's notebook.

JupyterLab strips an `<svg>` that stands in a Markdown cell, and GitHub an address with the data in it; a file shows in
both.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from nbformat import NotebookNode

from bertedu.course.building.places import Places

FOLDER = "pictures"
PICTURE = re.compile(r"!\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^\s()]+)\)")  # its words may hold [MASK]
IN_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
RAW = re.compile(r"<svg\b")


@dataclass(frozen=True)
class Picture:
    """A picture that a Markdown text names: what it says to somebody who doesn't see it, its address, and where."""

    words: str
    address: str
    start: int
    end: int


def without_code(text: str) -> str:
    """A Markdown text with spaces for what stands in code: the positions of the rest stay."""
    return IN_CODE.sub(lambda code: re.sub(r"\S", " ", code[0]), text)


def pictures_in(text: str) -> list[Picture]:
    """The pictures of a Markdown text, in order."""
    return [
        Picture(" ".join(found[1].split()), found[2], *found.span()) for found in PICTURE.finditer(without_code(text))
    ]


def files_of(text: str, folder: Path) -> dict[str, Path]:
    """The picture files that a Markdown text names, by their addresses, where its notebook lies in `folder`."""
    local = (one.address for one in pictures_in(text) if not re.match(r"\w+:|/", one.address))
    return {address: folder / address for address in local}


def pictures_of(notebooks: Iterable[NotebookNode], folder: Path) -> dict[str, Path]:
    """The same of notebooks that lie in `folder`."""
    texts = (cell.source for notebook in notebooks for cell in notebook.cells if cell.cell_type == "markdown")
    return {address: file for text in texts for address, file in files_of(text, folder).items()}


def seen_from_below(text: str) -> str:
    """The text for a notebook that lies one folder deeper."""
    for one in reversed(pictures_in(text)):
        if one.address.startswith(f"{FOLDER}/"):
            text = f"{text[: one.end - len(one.address) - 1]}../{text[one.end - len(one.address) - 1 :]}"
    return text


def faults_of_pictures(text: str, places: Places, drawn: bool = False) -> Iterator[tuple[int, str]]:
    """What is wrong with the pictures of a Markdown text of a source, and in which of its lines (from 0). With drawn,
    the build draws pictures of the chapter, and a file may not be there yet."""
    for raw in RAW.finditer(without_code(text)):
        yield text.count("\n", 0, raw.start()), f"JupyterLab shows no <svg> of a cell: make it a file in {FOLDER}/."
    for one in pictures_in(text):
        line = text.count("\n", 0, one.start)
        if not one.words:
            yield line, f"{one.address} has no words that say what it shows: ![…]({one.address})."
        file = places.notebooks / one.address
        if (problem := unreadable(file)) and not (drawn and not file.exists()):
            yield line, f"{one.address} {problem}."


def unreadable(path: Path) -> str | None:
    """Why no browser would draw the file; None where it would."""
    if not path.is_file():
        return "is not there"
    if path.suffix == ".svg":
        try:
            root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError as error:
            return f"is no SVG: {error}"
        if root.tag != "{http://www.w3.org/2000/svg}svg" or not root.get("width") or not root.get("height"):
            return "is no <svg xmlns=…> with a width and a height"
    return None
