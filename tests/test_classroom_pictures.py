"""A picture that a chapter names as a file is seen in slides, handouts, an LMS and a teacher's own course."""

import base64
import re
import zipfile
from html.parser import HTMLParser

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bertedu.classroom.assignment import make_assignment
from bertedu.classroom.course_making import make_course
from bertedu.classroom.handout import handout_html
from bertedu.classroom.slides.page import deck_html
from bertedu.classroom.slides.rules import slides_of
from bertedu.classroom.stored import read_chapter
from bertedu.course.building.guesses import visible
from bertedu.course.building.pictures import pictures_in, pictures_of
from bertedu.course.building.places import Places
from bertedu.course.building.versions import read_source

PLACES = Places()
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><text x="1" y="9">a "key" &lt; 2</text></svg>'
PROSE = """# 90 · Keys

One opens a door.

## A key

A **key** is made of brass.

![A door that a <key> opens,
left of "[MASK]"](../pictures/90_key.svg)

It fits."""
CHAPTERS = [path for path in PLACES.all_sources() if pictures_of([read_source(path)], PLACES.notebooks)]


@pytest.fixture
def chapter(tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "90_key.svg").write_text(DRAWING, encoding="utf-8")
    (tmp_path / "solutions").mkdir()
    cells = [new_markdown_cell(PROSE), new_code_cell("1", outputs=[new_output("stream", text="1")])]
    nbformat.write(new_notebook(cells=cells), tmp_path / "solutions" / "90_keys.ipynb")
    return read_chapter(tmp_path / "solutions" / "90_keys.ipynb", "90")


class Drawings(HTMLParser):
    """The words and the text of each SVG in an HTML page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind, _, data = (dict(attrs).get("src") or "").partition(";base64,")
        if tag == "img" and kind == "data:image/svg+xml":
            self.found.append((dict(attrs).get("alt") or "", base64.b64decode(data).decode()))


def drawings(page: str) -> list[tuple[str, str]]:
    parser = Drawings()
    parser.feed(page)
    return parser.found


SHOWN = ('A door that a <key> opens, left of "[MASK]"', DRAWING)


def test_a_handout_holds_its_pictures(chapter):
    page = handout_html(chapter, True, {})
    assert drawings(page) == [SHOWN] and "90_key.svg" not in page


def test_a_deck_has_a_slide_that_holds_the_picture(chapter):
    slides = slides_of(chapter)
    figures = [part for slide in slides for part in slide.parts if part.kind == "figure"]
    assert [drawings(part.html) for part in figures] == [[SHOWN]]
    assert "90_key.svg" not in deck_html("90", slides)


@pytest.fixture(scope="module")
def assigned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("assigned") / "week"
    make_assignment(["13"], folder)
    return folder


def test_learners_get_a_notebook_with_its_pictures(assigned):
    (lms,) = (path for path in (assigned / "lms").iterdir() if path.is_dir())
    (released,) = (assigned / "nbgrader" / "release").iterdir()
    for folder in (assigned / "release", released, lms):
        (notebook,) = folder.glob("*.ipynb")
        shown = [one for cell in nbformat.read(notebook, 4).cells for one in pictures_in(cell.source)]
        assert shown and all((folder / one.address).is_file() for one in shown)
    (archive,) = (assigned / "lms").glob("*.zip")
    assert f"{lms.name}/{shown[0].address}" in zipfile.ZipFile(archive).namelist()


def test_a_teachers_own_course_has_our_pictures_without_a_warning(tmp_path):
    (tmp_path / "course.toml").write_text('title = "Mine"\n[[chapter]]\nnumber = 13\n', encoding="utf-8")
    made = make_course(tmp_path / "course.toml", tmp_path / "out")
    for folder in (tmp_path / "out", tmp_path / "out" / "solutions"):
        (notebook,) = folder.glob("*.ipynb")
        shown = [one for cell in nbformat.read(notebook, 4).cells for one in pictures_in(cell.source)]
        assert shown and all((folder / one.address).is_file() for one in shown)
    assert not any("pictures/" in warning for warning in made.warnings)


def seen_in(notebook) -> set[str]:
    """The pictures that a deck shows: not those of optional sections, nor what is folded."""
    found, optional = set(), 0
    for cell in notebook.cells:
        text = visible(cell.source) if cell.cell_type == "markdown" else ""
        for one in reversed(pictures_in(text)):  # each on one line
            text = f"{text[: one.start]}![words]({one.address}){text[one.end :]}"
        for line in text.splitlines():
            if heading := re.match(r"(#+) ", line):
                level = len(heading[1])
                optional = 0 if optional and level <= optional else optional
                optional = level if not optional and "(optional" in line else optional
            elif not optional:
                found |= {one.address for one in pictures_in(line)}
    return found


@pytest.mark.parametrize("source", CHAPTERS, ids=lambda path: path.stem)
def test_every_picture_that_a_deck_shows_is_on_a_slide(source, tmp_path):
    notebook = read_source(source)
    seen = seen_in(notebook)
    notebook.cells[-1].outputs = [new_output("stream", text="1")]
    notebook.cells += [new_code_cell("1", outputs=[new_output("stream", text="1")])]
    (tmp_path / "pictures").symlink_to(PLACES.notebooks / "pictures")
    nbformat.write(notebook, tmp_path / source.with_suffix(".ipynb").name)
    shown = [
        part
        for slide in slides_of(read_chapter(tmp_path / source.with_suffix(".ipynb").name, ""))
        for part in slide.parts
    ]
    figures = [part for part in shown if part.kind == "figure"]
    drawn = {found[1] for part in figures if (found := re.search(r'src="(data:image/svg[^"]*)', part.html))}
    assert len(drawn) == len(seen)
