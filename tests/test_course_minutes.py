"""How long a reader needs: what is counted of a notebook, and what is not."""

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from bertedu.course.building.minutes import reading_of, words_in
from bertedu.course.exercise import Exercise

PICTURE = new_output("display_data", data={"image/png": "", "text/plain": ""})
CELLS = [
    new_markdown_cell(
        "# Two words\n\n![What one sees.](pictures/00_a.svg)\n\n<details><summary>Three more words</summary></details>"
    ),
    new_code_cell("a = 1\n\nb = 2", outputs=[PICTURE]),
    new_code_cell("plot()", metadata={"tags": ["hide-input"]}),
]


def exercise(minutes: int) -> Exercise:
    return Exercise("3.1", "A title", 1, minutes, ("a", "b"), lambda case: None)


def test_visible_and_folded_words_pictures_and_lines_are_counted_apart():
    reading = reading_of(NotebookNode(cells=CELLS), [exercise(5), exercise(10)])
    assert (reading.words, reading.folded_words) == (5, 3), "the words of a picture are its title"
    assert (reading.pictures, reading.cells, reading.lines, reading.exercise_minutes) == (2, 3, 2, 15)
    assert reading.minutes == pytest.approx(5 / 130 + 2 * 6 / 60 + 2 * 20 / 60 + 15)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Don't count [a link](03_self_attention.ipynb) twice.", 5),
        ("`code` in a line, and\n```python\nnot = this\n```", 4),
        ("| a | b |\n|---|---|\n| 1 | 2 |", 4),
        ("<!-- attention-01 -->\n**1. Why?**", 2),
    ],
)
def test_a_word_is_what_a_person_reads(text, count):
    assert words_in(text) == count


def test_a_guess_takes_time_and_so_does_the_box_that_says_what_it_showed():
    seen = new_markdown_cell(
        "<details><summary>What you saw, and why</summary>\n\n![A bar.](pictures/00_b.svg)\n\nIt is.\n\n</details>"
    )
    other = new_markdown_cell("<details><summary>A clue</summary>\n\nLook at it.\n\n</details>")
    guess = new_code_cell("a", metadata={"tags": ["guess"]})
    reading = reading_of(NotebookNode(cells=[guess, seen, other]), [])
    assert (reading.words, reading.pictures) == (0, 0)
    assert reading.minutes == pytest.approx((6 / 60) + (20 + 20) / 60 + (5 + 2 + 2) / 130)
