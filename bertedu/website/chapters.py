"""A chapter as a page: the learner's notebook with what its guesses show folded, solutions folded, and its quiz."""

import base64
import re
from copy import deepcopy
from dataclasses import dataclass
from html import escape

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from bertedu.address import colab_url, edit_url, has_address
from bertedu.classroom.markup import png_size
from bertedu.classroom.overview import Chapter
from bertedu.course.building.guesses import is_guess, with_answers
from bertedu.course.building.places import Places
from bertedu.course.explorable import PLAYGROUND, STORED, Explorable
from bertedu.files import naming_failures, read_text, write_text
from bertedu.website.quizzes import quiz_html
from bertedu.website.tree import Tree
from bertedu.website.try_it import MODEL

TITLE = re.compile(r"\A# .+\n")
SOLUTION = re.compile(r"^ *### BEGIN SOLUTION\n(.*?)^ *### END SOLUTION\n?", re.DOTALL | re.MULTILINE)
QUIZ = re.compile(r"^quiz\(\"?(\w+)\"?\)", re.MULTILINE)
LIVE = ("application/javascript", "application/vnd.jupyter.widget-view+json")
SHOWN_AT = 2 / 3  # pictures are stored with 144 pixels an inch, pages count 96


@dataclass(frozen=True)
class Stored:
    """A chapter with its two stored notebooks."""

    chapter: Chapter
    learner: NotebookNode
    solution: NotebookNode

    @property
    def page(self) -> str:
        """Its page on the site."""
        return f"chapters/{self.chapter.name}"


def stored(chapter: Chapter, places: Places) -> Stored:
    """The two stored notebooks of a chapter."""
    source = places.chapters / f"ch{chapter.name}" / f"{chapter.name}.py"
    learner, solution = (nbformat.reads(read_text(path), as_version=4) for path in places.pair(source))
    return Stored(chapter, learner, solution)


def chapter_page(one: Stored, tree: Tree, solutions: bool) -> NotebookNode:
    """The notebook that Sphinx reads. Its pictures are written beside the pages; links lead to pages of the site."""
    file = f"notebooks/{one.chapter.name}.ipynb"
    notebook = with_answers(one.learner, one.solution)
    solved = iter([cell for cell in one.solution.cells if cell.cell_type == "code"])
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = tree.linked(cell.source, file)
            cells.append(cell)
            continue
        answer = next(solved)
        cells.append(code_cell(cell, one, tree))
        if solutions and (found := "".join(SOLUTION.findall(answer.source))):
            cells.append(folded_solution(found))
    cells[0].source = TITLE.sub(lambda title: f"{title[0]}\n{bar(one)}\n", cells[0].source)
    cells.append(new_markdown_cell(f'<div class="finished" data-chapter="{one.chapter.number}"></div>'))
    notebook.cells = cells
    return notebook


def code_cell(cell: NotebookNode, one: Stored, tree: Tree) -> NotebookNode:
    """A cell as the page shows it: pictures as files with their words, the quiz without a kernel, guesses folded."""
    cell = deepcopy(cell)
    if quiz := QUIZ.search(cell.source):
        html = quiz_html(f"ch{one.chapter.name}", quiz[1])
        cell.outputs = [new_output("display_data", {"text/html": html})]
        return cell
    outputs = []
    for number, output in enumerate(cell.outputs, start=1):
        data = output.get("data", {})
        if STORED in data:
            outputs.append(touched(Explorable(**data[STORED]), f"{one.chapter.name}_{cell.id}.html", tree))
            continue
        if any(kind in data for kind in LIVE):
            continue
        if "image/png" in data:
            output = picture(output, f"{one.chapter.name}_{cell.id}_{number}.png", tree)
        outputs.append(output)
    cell.outputs = outputs
    if is_guess(cell):
        cell.metadata.tags = [*cell.metadata.get("tags", []), "hide-output"]
    return cell


def touched(explorable: Explorable, name: str, tree: Tree) -> NotebookNode:
    """A picture that one can touch, as a page of its own in a frame of the chapter's page; the site has one playground
    for all chapters.
    """
    if explorable.given.get("checkpoint") == MODEL and explorable.name == PLAYGROUND:
        page = f"playground.html{explorable.address}"
    else:
        page = f"explorables/{name}"
        write_text(tree.folder / "extra" / page, explorable.page())
    html = (
        f'<iframe class="explorable" loading="lazy" src="../{escape(page)}" title="{escape(explorable.question)}" '
        f'height="{explorable.height}"></iframe>'
    )
    return new_output("display_data", {"text/html": html})


def picture(output: NotebookNode, name: str, tree: Tree) -> NotebookNode:
    """A stored picture as a file beside the pages, with the words that say what it shows."""
    data = "".join(output["data"]["image/png"])
    words = " ".join(output["metadata"].get("image/png", {}).get("alt", "").split())
    path = tree.folder / "_static" / "figures" / name
    with naming_failures(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
    width, height = (round(SHOWN_AT * size) for size in png_size(data))
    html = (
        f'<img class="figure" loading="lazy" src="../_static/figures/{name}" alt="{escape(words)}" '
        f'width="{width}" height="{height}">'
    )
    return new_output("display_data", {"text/html": html})


def folded_solution(code: str) -> NotebookNode:
    """A cell of text with a solution that is shown when it is asked for."""
    lines = code.rstrip().splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    body = "\n".join(line[margin:] for line in lines)
    return new_markdown_cell(f"<details><summary>A solution</summary>\n\n```python\n{body}\n```\n\n</details>")


def bar(one: Stored) -> str:
    """What stands under a chapter's title: its time, and how to run, fetch and, once there is an address, mend it."""
    notebook = f"{one.chapter.name}.ipynb"
    source = f"bertedu/chapters/ch{one.chapter.name}/{one.chapter.name}.py"
    times = str(one.chapter.sittings).capitalize()
    links = {"../start.html": "Run it yourself"}
    if has_address():
        links |= {colab_url(notebook): "Open in Colab", edit_url(source): "Edit"}
    listed = "".join(f'<a href="{address}">{words}</a>' for address, words in links.items())
    download = f'<a href="../downloads/{notebook}" download>Download</a>'
    return f'<p class="chapter-bar"><span>{times}</span>{listed}{download}</p>'
