"""A handout for each chapter, made by nbconvert from its stored notebook: HTML for the screen and for paper, and PDF.

nbconvert's own template loses the words that say what a figure shows, and asks the network for MathJax and
require.js; ours keeps the words and asks for nothing.
"""

import re
from pathlib import Path

from nbconvert import HTMLExporter
from nbformat import NotebookNode

from bertedu.classroom.markup import code_css, code_html, figure_html, markdown_html
from bertedu.classroom.stored import Chapter, stored_chapters
from bertedu.course.building.places import Places
from bertedu.errors import UserError
from bertedu.files import write_text
from bertedu.visualization.printing import write_pdf

TEMPLATES = Path(__file__).parent / "templates"
LIVE = ("application/javascript", "application/vnd.jupyter.widget-view+json")
WIDGETS = ("VBox(", "HBox(", "interactive(", "Box(", "HTML(")
MARKS = re.compile(r"^ *### (BEGIN|END) SOLUTION\n", re.MULTILINE)
FIGURES = 2 / 3  # pictures are stored with 144 pixels an inch, pages count 96
INSTEAD = "Here the notebook has a part to work with: open it to use it."


def write_handouts(
    chapters: tuple[str, ...], folder: Path, solutions: bool = False, pdf: bool = False, places: Places | None = None
) -> list[Path]:
    """Write the handouts of the chapters given (none for all) into a folder; returns the files.

    Where no browser is found that could print the PDF, the HTML is written all the same, before the error.
    """
    found = stored_chapters(chapters, solutions, places)
    names = {chapter.path.name: file_name(chapter, solutions) for chapter in found}
    pages = {}
    for chapter in found:
        path = folder / names[chapter.path.name]
        pages[path] = handout_html(chapter, solutions, names)
        write_text(path, pages[path])  # at once: a folder that cannot be written is told after the first page
    written = list(pages)
    for path, page in pages.items() if pdf else ():
        try:
            write_pdf(page, path.with_suffix(".pdf"))
        except UserError as error:
            raise UserError(f"the handouts are in {folder} as HTML, but not as PDF: {error}") from error
        written.append(path.with_suffix(".pdf"))
    return written


def file_name(chapter: Chapter, solutions: bool) -> str:
    """What the handout of a chapter is called."""
    return f"{chapter.name}_{'solutions' if solutions else 'handout'}.html"


def handout_html(chapter: Chapter, solutions: bool, names: dict[str, str]) -> str:
    """The page of a chapter; `names` has the handouts that a link to a notebook can lead to."""

    def link(address: str) -> str | None:
        """Links to chapters lead to their handouts, where these are written too; others into the web stay."""
        path, _, place = address.partition("#")
        if path.startswith(("http://", "https://", "mailto:")) or (place and not path):
            return address
        return names.get(Path(path).name)

    exporter = HTMLExporter(extra_template_basedirs=[str(TEMPLATES)], template_name="handout")
    exporter.register_filter("prose", lambda text: markdown_html(opened(text) if solutions else text, link))
    exporter.register_filter("code", lambda code: code_html(MARKS.sub("", code)))
    exporter.register_filter("figure", lambda output: figure_html(output, FIGURES))
    exporter.register_filter("parts", lambda cell: shown_outputs(cell, solutions))
    resources = {"title": chapter.title, "solutions": solutions, "colours": code_css(), "instead": INSTEAD}
    page, _ = exporter.from_notebook_node(chapter.notebook, resources=resources)
    return page


def opened(text: str) -> str:
    """Markdown with its folded answers open: nobody can unfold paper."""
    return text.replace("<details>", "<details open>")


def shown_outputs(cell: NotebookNode, solutions: bool) -> list[tuple[str, object]]:
    """A cell's outputs, each as its kind and what to show: text, a figure, HTML, or a sentence where a widget is.

    What a check says of an exercise that nobody has solved yet is left out.
    """
    tags = cell.metadata.get("tags", [])
    if any(name in output.get("data", {}) for output in cell.outputs for name in LIVE):
        return [("instead", INSTEAD)]
    found: list[tuple[str, object]] = []
    for output in cell.outputs:
        data = output.get("data", {})
        plain = data.get("text/plain", "")
        if output.output_type == "stream":
            found.append(("text", output.text))
        elif output.output_type == "error":
            found.append(("text", f"{output.ename}: {output.evalue}"))
        elif "image/png" in data:
            found.append(("figure", output))
        elif "text/html" in data:
            if solutions or "exercise" not in tags:
                found.append(("html", data["text/html"]))
        elif plain.startswith(WIDGETS):
            found.append(("instead", INSTEAD))
        elif plain and "%|" not in plain:  # a bar of progress says nothing on paper
            found.append(("text", plain))
    return found


__all__ = ["write_handouts"]
