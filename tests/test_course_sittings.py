"""The sittings of a chapter: where each ends, what is optional, and the line that the build keeps true."""

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from bertedu.course.building.sittings import Sittings, parts, sittings_of, told, write_minutes
from bertedu.course.exercise import Exercise
from bertedu.errors import UserError

TEN_MINUTES = "word " * 1300
FIRST_CELL = """# %% [markdown]
# # 03 · Attention
#
# **Time:** {time} ·
# **You need:** nothing
"""


def notebook(*texts: str) -> NotebookNode:
    return NotebookNode(cells=[new_markdown_cell(text) for text in texts])


def exercise(number: str, minutes: int) -> Exercise:
    return Exercise(number, "A title", 1, minutes, ("a", "b"), lambda case: None)


def headings(*texts: str) -> dict[str, bool]:
    """Which headings of a notebook are below one that is optional."""
    return {part.cell.source.partition("\n")[0]: part.is_optional for part in parts(notebook(*texts).cells)}


def test_a_sitting_ends_where_the_notebook_says_so():
    text = [TEN_MINUTES, f"{TEN_MINUTES}\n\n**Here the first sitting ends.** You have a class.", TEN_MINUTES]
    assert sittings_of(notebook(*text), []) == Sittings((20, 10))


def test_a_heading_in_the_same_cell_begins_the_next_sitting():
    text = f"{TEN_MINUTES}\n\n**Here the first sitting ends.** Go.\n\n## More\n\n{TEN_MINUTES}{TEN_MINUTES}"
    assert sittings_of(notebook(text), []) == Sittings((10, 20))


def test_a_section_that_is_optional_ends_with_the_next_of_its_level():
    assert headings("## A (optional)\nx\n### B\nx\n## C\nx", "### D (optional)", "### E") == {
        "## A (optional)": True, "### B": True, "## C": False, "### D (optional)": True, "### E": False,
    }  # fmt: skip


def test_an_exercise_that_an_optional_heading_names_is_optional_and_no_other():
    found = headings("### A (optional, with exercise 3.4)", "### Exercise 3.4 · B", "### Exercise 3.5 · C", "### D")
    assert found == {
        "### A (optional, with exercise 3.4)": True, "### Exercise 3.4 · B": True, "### Exercise 3.5 · C": False,
        "### D": False,
    }  # fmt: skip


def test_the_minutes_of_an_exercise_count_where_its_heading_stands():
    text = ["**Here the first sitting ends.**", "### Exercise 3.1 · A", "## Rest (optional)", "### Exercise 3.2 · B"]
    given = [exercise("3.1", 15), exercise("3.2", 20), exercise("3.9", 60)]
    assert sittings_of(notebook(*text), given) == Sittings((0, 15), 20)


def test_a_comment_in_a_block_of_code_is_no_heading():
    text = "## A (optional)\n```python\n# a comment\n```\nmore"
    assert headings(text) == {"## A (optional)": True}
    assert [part.is_optional for part in parts([new_markdown_cell(text), new_code_cell("# a")])] == [True, True]


@pytest.mark.parametrize(
    ("sittings", "words"),
    [
        (Sittings((55,)), "one sitting of about 55 minutes"),
        (Sittings((50, 45), 5), "two sittings of about 50 and 45 minutes, and 5 more for what is optional"),
        (Sittings((45, 15, 50)), "three sittings of about 45, 15 and 50 minutes"),
    ],
)
def test_what_a_chapter_says_is_read_as_it_is_written(tmp_path, sittings, words):
    assert str(sittings) == words
    source = tmp_path / "03_attention.py"
    source.write_text(FIRST_CELL.format(time=f"{words}. The first ends with a class."), encoding="utf-8")
    assert told(source) == sittings


def test_the_build_writes_the_counted_minutes_and_leaves_the_rest_of_the_line(tmp_path):
    source = tmp_path / "03_attention.py"
    source.write_text(FIRST_CELL.format(time="one sitting of about 5 minutes. It is short"), encoding="utf-8")
    assert write_minutes(source, Sittings((50, 45), 20)) and not write_minutes(source, Sittings((50, 45), 20))
    line = f"# **Time:** {Sittings((50, 45), 20)}. It is short ·"
    assert line in source.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("time", ["45 minutes", "two sittings", "one sitting of about\n# 50 minutes"])
def test_a_line_that_the_build_cannot_keep_true_is_refused(tmp_path, time):
    source = tmp_path / "03_attention.py"
    source.write_text(FIRST_CELL.format(time=time), encoding="utf-8")
    with pytest.raises(UserError, match=r"sittings and their minutes|how many sittings"):
        write_minutes(source, Sittings((55,)))
