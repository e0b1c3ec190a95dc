"""A cell of code as slides: what it does and what comes out, and before it the question that it answers."""

import re

from nbformat import NotebookNode

from bertedu.classroom.markup import figure_html
from bertedu.classroom.slides import fitting
from bertedu.classroom.slides.excerpts import excerpt
from bertedu.classroom.slides.fitting import Part
from bertedu.classroom.slides.sentences import question_of
from bertedu.classroom.slides.slide import Slide

MOST_LINES_OF_OUTPUT, MOST_BESIDE_CODE = 13, 8
LEFT_OUT = "…"


def cell_slides(cell: NotebookNode, prose: list[str], title: str, kicker: str, lead: str | None) -> list[Slide]:
    """The slides of one cell; none where it only prepares something."""
    tags = cell.metadata.get("tags", [])
    hidden = "hide-input" in tags
    figure, text = outputs(cell)
    code = None if hidden or figure is not None else excerpt(cell.source)
    block = fitting.code_part(code) if code else None
    question = next((asked for words in reversed(prose) if (asked := question_of(words))), None)
    result = figure or (text and fitting.code_part(text, "output", 30))
    if not result and (block is None or len((code or "").splitlines()) < 3):
        return []
    if question and result:
        return with_question(question, block, result, title, kicker)
    leads = [fitting.text_part(lead)] if lead and (not question or lead not in question) else []
    if not result:
        parts = leads if block is None else largest(leads, block, [], title)
        return [Slide("code", title, kicker, parts, weight=4)]
    weight = 8 if figure else 5
    if block is not None and text and len(text.splitlines()) <= MOST_BESIDE_CODE:
        small = fitting.code_part(code or "", most=22), fitting.code_part(text, "output", 20)
        for above in (leads, []):
            parts = [*above, *filter(None, small)]
            if len(parts) == 2 + len(above) and fitting.fits(parts, title):
                return [Slide("code", title, kicker, parts, weight=6, shows_output=True)]
    made = [Slide("code", title, kicker, largest(leads, block, [], title), weight=2)] if block else []
    above = leads if not made else []
    return [*made, Slide("result", title, kicker, largest(above, result, [], title), weight=weight, shows_output=True)]


def with_question(question: str, block: Part | None, result: Part, title: str, kicker: str) -> list[Slide]:
    """The question, with the code where there is room; then what comes out."""
    asked = largest([fitting.question_part(question)], block, [], title) if block else [fitting.question_part(question)]
    if len(asked) == 1 and asked[0] is block:
        asked = [fitting.question_part(question)]
    answer = Slide("result", title, kicker, [result], weight=9, shows_output=True)
    return [Slide("question", title, kicker, asked, weight=7), answer]


def largest(above: list[Part], part: Part, below: list[Part], title: str) -> list[Part]:
    """The part with what stands above it, or alone where it has no room otherwise."""
    return [*above, part, *below] if fitting.fits([*above, part, *below], title) else [part]


def outputs(cell: NotebookNode) -> tuple[Part | None, str]:
    """A cell's picture, and the text that it printed, shortened to what a slide holds. Widgets are left out."""
    figure, text = None, ""
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            figure = fitting.figure_part(figure_html(output))
        elif output.output_type == "stream" and output.name == "stdout":
            text += output.text
        elif output.output_type == "error":
            text += f"{output.ename}: {output.evalue}".partition("\n")[0][:180]
        elif list(data) == ["text/plain"] and "%|" not in data["text/plain"]:
            text += data["text/plain"]
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).strip("\n").splitlines()]
    lines = [line if len(line) <= 96 else line[:95] + LEFT_OUT for line in lines]
    if len(lines) > MOST_LINES_OF_OUTPUT:
        lines = [*lines[: MOST_LINES_OF_OUTPUT - 1], LEFT_OUT]
    return figure, "\n".join(lines)
