"""Decks of slides: what a slide may hold, what it must not show, and what the speaker finds in the notes."""

import re
from functools import cache
from html import escape, unescape

import nbformat
import pytest

from bertedu.classroom.markup import CODE_COLOURS, CODE_PAPER, markdown_html
from bertedu.classroom.slides import write_slides
from bertedu.classroom.slides.blocks import blocks, sections
from bertedu.classroom.slides.excerpts import MOST_LINES, excerpt
from bertedu.classroom.slides.fitting import HEIGHT, height_of
from bertedu.classroom.slides.page import deck_html, own
from bertedu.classroom.slides.rules import MOST_SLIDES, slides_of
from bertedu.classroom.slides.sentences import points, question_of, sentences, takeaway
from bertedu.classroom.stored import Chapter, read_chapter, stored_chapters
from bertedu.course.building.places import Places
from bertedu.errors import UserError

LEAST_SLIDES = 15
NAMES = [path.name[:2] for path in Places().all_sources()]


@cache
def chapter(number: str = "03") -> Chapter:
    return stored_chapters((number,), solved=True)[0]


@cache
def deck(number: str = "03"):
    return slides_of(chapter(number))


def words(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@pytest.mark.parametrize("number", NAMES)
def test_a_slide_holds_no_more_than_its_page(number):
    slides = deck(number)
    assert LEAST_SLIDES <= len(slides) <= MOST_SLIDES, f"chapter {number} has {len(slides)} slides"
    for place, slide in enumerate(slides, start=1):
        assert slide.parts, f"slide {place} of chapter {number} is empty"
        height = height_of(slide.parts, slide.title)
        assert height <= HEIGHT or slide.kind == "title", (
            f"slide {place} of chapter {number}: {height} of {HEIGHT} pixels"
        )
        for part in slide.parts:
            if part.kind == "code":
                lines = words(part.html).splitlines()
                assert len(lines) <= MOST_LINES and max(map(len, lines)) <= 96, f"slide {place}: {lines}"


def test_an_answer_stands_on_a_slide_after_its_question():
    slides = deck()
    asked = [place for place, slide in enumerate(slides) if slide.kind == "question"]
    assert asked
    for place in asked:
        assert not any(part.kind in ("output", "figure") for part in slides[place].parts)
        assert slides[place + 1].shows_output


def test_no_solution_is_shown_to_the_class():
    exercise = next(slide for slide in deck() if slide.title.startswith("Exercise 3.2"))
    shown = " ".join(words(part.html) for part in exercise.parts)
    assert "transpose(-2, -1)" not in shown
    assert "transpose(-2, -1)" in " ".join(exercise.notes) and "### BEGIN" not in " ".join(exercise.notes)


@pytest.mark.parametrize("number", ["00", "03", "11", "19"])
def test_all_prose_of_the_chapter_is_in_the_notes(number):
    notes = "\n".join(text for slide in deck(number) for text in slide.notes)
    left_out = re.findall(r"\*([^*]+)\*", notes.partition("Not in this deck: ")[2])
    for section in sections(chapter(number).notebook.cells):
        if section.title in [*left_out, "Quiz"]:
            continue
        for block in section.prose:
            assert block.text in notes or block.text.startswith(("●", "<img ")), f"{section.title}: {block.text[:80]}"


def test_optional_sections_and_their_exercises_are_left_out():
    titles = [slide.title for slide in deck()]
    assert not any("(optional" in title for title in titles)
    assert not any(title.startswith("Exercise 3.4") for title in titles)  # it belongs to an optional section
    assert "How negative is" in deck()[-1].notes[-1]


def test_a_figure_keeps_the_words_that_say_what_it_shows():
    page = deck_html("03", deck())
    figures = [
        output.metadata["image/png"]["alt"]
        for cell in chapter().notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(figures) == 3 and page.count("<img ") > 10  # the others are drawings
    for alt in figures:
        assert f'alt="{escape(" ".join(alt.split()))}"' in page


def test_a_deck_asks_no_other_machine_for_anything():
    page = deck_html("03", deck())
    assert not re.search(r"""(src|href|action)=["']?(?!data:)[^"'\s>]|@import|url\(|fetch\(|XMLHttp""", page)
    assert "default-src 'none'" in page


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_text_can_be_read_from_the_last_row():
    css = own("deck.css")
    named = dict(re.findall(r"--(ink|soft|accent): (#\w{6})", css))
    behind = ["#ffffff", "#eaf1f9", "#fdf3e7"]
    for name, colour in named.items():
        assert min(contrast(colour, back) for back in behind) >= 4.5, name
    for name, colour in CODE_COLOURS.items():
        assert contrast(colour, CODE_PAPER) >= 4.5, name


def test_slide_types_of_jupyter_are_followed():
    cells = [
        nbformat.v4.new_markdown_cell("## One\n\nShown.", metadata={}),
        nbformat.v4.new_markdown_cell("Left out.", metadata={"slideshow": {"slide_type": "skip"}}),
        nbformat.v4.new_markdown_cell("Only said.", metadata={"slideshow": {"slide_type": "notes"}}),
    ]
    [section] = sections(cells)
    assert [block.text for block in section.prose] == ["Shown.", "Only said."]
    assert section.prose[1].folded


def test_a_sentence_is_not_cut_in_the_middle():
    text = "Clark et al. (2019) found heads. They follow `a. B` too (as in Fig. 2. See there). Is $a. B$ one? Yes."
    assert sentences(text) == [
        "Clark et al. (2019) found heads.",
        "They follow `a. B` too (as in Fig. 2. See there).",
        "Is $a. B$ one?",
        "Yes.",
    ]


def test_a_slide_does_not_say_what_the_next_cell_does():
    said = points(["The next cell draws it. **Attention** is a weighted average. It has two steps."])
    assert said == ["**Attention** is a weighted average."]


def test_a_question_stands_with_what_it_is_about():
    assert question_of("Two weights have the gradients 3 and 4. Guess: what are they after clipping?") == (
        "Two weights have the gradients 3 and 4. What are they after clipping?"
    )
    assert question_of("The next cell shows both. Guess: what are they after clipping?") is None
    assert question_of("Before you run the cell, guess: how many bits are left?") == "How many bits are left?"


def test_a_takeaway_says_more_than_where_to_look():
    assert takeaway("Compare the lines in pairs.") is None
    assert takeaway("Look at the last line. The head is certain.") == "Look at the last line. The head is certain."


def test_code_that_has_no_room_is_cut_only_where_it_may_be():
    long = "\n".join(f"x{i} = {i}" for i in range(MOST_LINES + 1))
    assert excerpt(long) is None
    cell = f'import torch\n\ndef f(x):\n    """Says it."""\n    y = x\n    return y\n\n{long}'
    assert excerpt(cell) == "def f(x):\n    y = x\n    return y"
    assert excerpt("import torch") is None


def test_an_answer_is_folded_and_a_drawing_is_no_prose():
    folded = "<details><summary>Answer</summary>\n\nBecause.\n\n</details>"
    text = f'1. Why?\n\n{folded}\n\nSo.\n\n<img alt="A key" src="data:,">'
    assert [block.kind for _, block in blocks(text)] == ["list", "folded", "paragraph", "html"]


def test_a_formula_needs_no_mathjax():
    assert "<math" in markdown_html(r"$$\frac{a}{b}$$") and "$" not in words(markdown_html(r"So $\sqrt{d}$ is."))


def test_a_notebook_that_is_not_there_is_told_in_words(tmp_path):
    with pytest.raises(UserError, match="no source for 99"):
        write_slides(("99",), tmp_path)
    with pytest.raises(UserError, match=r"is missing: run `bertedu build 03`"):
        read_chapter(tmp_path / "03_x.ipynb", "03")
    for text in ("{", "[]", "", "{}"):
        (tmp_path / "03_x.ipynb").write_text(text)
        with pytest.raises(UserError, match="bertedu build 03"):
            read_chapter(tmp_path / "03_x.ipynb", "03")
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "03_x.ipynb")
    with pytest.raises(UserError, match="has no outputs"):
        read_chapter(tmp_path / "03_x.ipynb", "03")
