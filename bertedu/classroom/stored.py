"""The stored notebooks of chapters, as decks and handouts read them: prose, code, outputs and figures."""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bertedu.classroom.markup import picture_html
from bertedu.course.building.pictures import pictures_in
from bertedu.course.building.places import Places
from bertedu.course.rooms import number_of
from bertedu.errors import UserError
from bertedu.files import read_bytes, read_text

EVERY = "all"


@dataclass(frozen=True)
class Chapter:
    """A stored notebook, with what its first heading says."""

    path: Path
    notebook: NotebookNode

    @property
    def name(self) -> str:
        """The name of its file, as 03_self_attention."""
        return self.path.stem

    @property
    def title(self) -> str:
        """Its first heading, as "03 · Self-attention"."""
        for cell in self.notebook.cells:
            if cell.cell_type == "markdown" and (found := re.search(r"^# (.+)$", cell.source, re.MULTILINE)):
                return found[1].strip()
        raise UserError(
            f"{self.path} has no heading such as `# 03 · Self-attention` in any cell: write one, and build."
        )


def stored_chapters(chapters: tuple[str, ...], solved: bool, places: Places | None = None) -> list[Chapter]:
    """The stored notebooks of the chapters given ("3" or "03"; none, or "all", for all), solved or the learner's."""
    places = places or Places()
    wanted = () if EVERY in chapters else chapters
    return [read_chapter(places.pair(source)[solved], number_of(source)) for source in places.all_sources(wanted)]


def read_chapter(path: Path, number: str) -> Chapter:
    """One stored notebook. Raises UserError where it is missing, damaged, or was never executed."""
    remedy = f"run `bertedu build {number}`"
    if not path.exists():
        raise UserError(f"{path} is missing: {remedy}.")
    try:
        notebook = nbformat.reads(read_text(path), as_version=4)
    except Exception as error:  # nbformat raises many kinds
        first = str(error).strip().partition("\n")[0][:200]
        raise UserError(f"{path} is no notebook that can be read ({first}): {remedy}.") from error
    if not any(cell.get("outputs") for cell in notebook.cells):
        raise UserError(f"{path} has no outputs: {remedy}.")
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_pictures(cell.source, path.parent)
    return Chapter(path, notebook)


def with_pictures(text: str, folder: Path) -> str:
    """A Markdown text with the picture files that it names in the text itself, since its page will lie elsewhere."""
    for one in reversed(pictures_in(text)):
        file = folder / one.address
        if file.suffix == ".svg":
            text = f"{text[: one.start]}{picture_html(read_bytes(file), one.words)}{text[one.end :]}"
    return text
