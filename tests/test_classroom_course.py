"""A teacher's own course: what course.toml may say, and what becomes of links, maps and exercises."""

import re
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from bertedu.classroom.course_file import read_course
from bertedu.classroom.course_making import make_course
from bertedu.cli import main
from bertedu.course.building.places import Places
from bertedu.course.rooms import CHAPTERS
from bertedu.errors import UserError

EXAMPLE = Path(__file__).parents[1] / "docs" / "teaching" / "course.toml"
OURS = """# %% [markdown]
# # Our data
#
# After [03](03_self_attention.ipynb). ![a](pics/a.png) and [dead](pics/b.png), [06](06_masked_language_model.ipynb)

# %% tags=["exercise"]
def attention(query, key, value):
    ### BEGIN SOLUTION
    return query
    ### END SOLUTION


check("3.2", attention)
"""
MINE = """
title = "Mine"
[[chapter]]
number = 0
[[chapter]]
number = 4
only = ["4.2"]
title = "Stacks"
[[chapter]]
notebook = "ours.py"
about = "our | own"
[[chapter]]
number = 3
date = 2026-11-30
links = [{text = "Slides", to = "pics/a.png"}]
without = ["3.5", "3.1"]
"""


def course(folder: Path, text: str = MINE, ours: str = OURS) -> Path:
    (folder / "pics").mkdir(parents=True)
    (folder / "pics" / "a.png").write_bytes(b"x")
    (folder / "ours.py").write_text(ours, encoding="utf-8")
    (folder / "course.toml").write_text(text, encoding="utf-8")
    return folder / "course.toml"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teacher")
    return make_course(course(folder), folder / "out"), folder / "out"


def read(folder: Path, name: str):
    notebook = nbformat.read(str(folder / f"{name}.ipynb"), as_version=4)
    nbformat.validate(notebook)
    return notebook


def line_of(words: str, chapter: str) -> int:
    """The line of the chapter's source that holds these words first, counted from 1."""
    lines = (CHAPTERS / f"ch{chapter}" / f"{chapter}.py").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


def prose(notebook) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_next_and_previous_follow_the_courses_own_order(made):
    text = prose(read(made[1], "04_transformer_encoder"))
    assert "**Next:** [Our data](ours.ipynb) ·\n**Previous:** [00 · Start here](00_start_here.ipynb)" in text
    assert text.rstrip().endswith("## Next\n\nGo on with [Our data](ours.ipynb).")
    assert "**Next:** [03 · Self-attention](03_self_attention.ipynb)" in prose(read(made[1], "ours"))
    last = prose(read(made[1], "03_self_attention"))
    assert "**Next:** this is the last notebook" in last and "This was the last notebook of the course." in last


def test_the_map_lists_the_chapters_of_the_course_alone(made):
    for text in (prose(read(made[1], "00_start_here")), (made[1] / "README.md").read_text("utf-8")):
        rows = [line for line in text.splitlines() if line.startswith("|") and "ipynb)" in line]
        assert [row.split("](")[1].split(")")[0] for row in rows][-3:] == [
            "04_transformer_encoder.ipynb",
            "ours.ipynb",
            "03_self_attention.ipynb",
        ]
        assert "[04 · Stacks](04_" in text and "our \\| own" in text and "Monday, 30 November 2026" in text
        assert "Chapters 06 to 09" not in text and "05_the_whole_bert" not in text


def test_a_left_out_exercise_leaves_whole_and_takes_no_import_with_it(made):
    for folder in (made[1], made[1] / "solutions"):
        notebook = read(folder, "04_transformer_encoder")
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        assert "### Exercise 4.2" in prose(notebook) and "### Exercise 4.1" not in prose(notebook)
        assert [line for line in code.splitlines() if line.startswith("check(")] == ['check("4.2", gelu)']
        assert code.index("from bertedu.course import check") < code.index('check("4.2"')
        run = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.execution_count]
        withheld = [cell for cell in notebook.cells if cell.cell_type == "code" and cell not in run]
        assert run and (not withheld if folder.name == "solutions" else not any(cell.outputs for cell in withheld))
        assert "### Exercise 3.5" not in prose(read(folder, "03_self_attention"))
        assert "# 04 · Stacks" in notebook.cells[0].source


def test_a_learner_sees_no_solution(made):
    for name in ("04_transformer_encoder", "ours", "03_self_attention"):
        code = "\n".join(cell.source for cell in read(made[1], name).cells)
        assert "BEGIN SOLUTION" not in code and "NotImplementedError" in code
        assert "BEGIN SOLUTION" in "\n".join(cell.source for cell in read(made[1] / "solutions", name).cells)


def test_a_dead_link_and_a_chapter_that_comes_later_are_told_with_their_line(made):
    said = made[0].warnings
    far = line_of("chapter 02](02_", "03_self_attention")
    lab = line_of("## Broken BERT", "04_transformer_encoder")
    needs = [line_of("**You need:**", name) for name in ("03_self_attention", "04_transformer_encoder")]
    wanted = (
        f'04_transformer_encoder.py, line {needs[1]}: "You need" names “03 · Self-attention”, which',
        f'03_self_attention.py, line {needs[0]}: "You need" names “02 · Input embeddings”, which is not in this course',
        f"03_self_attention.py, line {far}: the link to 02_input_embeddings.ipynb, not in this course, became text",
        "ours.py, line 4: the link to 06_masked_language_model.ipynb",
        "ours.py, line 4: the link to pics/b.png leads nowhere",
        f"04_transformer_encoder.py, line {lab}: this lab stays, without exercise 4.5",
        "ours.py: it has 2 cells",
    )
    for words in wanted:
        assert any(words in one for one in said), f"{words} is not in {said}"
    assert "(02_input_embeddings" not in prose(read(made[1], "03_self_attention"))
    assert (made[1] / "pics" / "a.png").is_file() and (made[1] / "solutions" / "pics" / "a.png").is_file()


def test_a_teachers_cell_beyond_our_limits_is_told_and_not_refused(tmp_path):
    long = OURS + "\n# %%\n" + "x = 1\n" * 40 + "y = " + "1 + " * 30 + "1\n"
    told = make_course(course(tmp_path, '[[chapter]]\nnotebook = "ours.py"\n', long)).warnings
    assert any("has 41 lines" in one for one in told) and any("121 characters" in one or "fit" in one for one in told)


WRONG = {
    "[[chapter]]\nnumber = 99\n": ("line 1", "there is no chapter 99"),
    '[[chapter]]\nnumber = "3x"\n': ("line 1", "there is no chapter 03x"),
    "[[chapter]]\nnumber = 3.5\n": ("line 1", "number is 3.5: give a number"),
    "[[chapter]]\nnumber = true\n": ("line 1", "give a number"),
    "\n[[chapter]]\nnumber = 3\n[[chapter]]\nnumber = 3\n": ("line 4", "is there already, from line 2"),
    '[[chapter]]\nnumber = 3\nwithout = ["3.9"]\n': ("line 1", "no exercise '3.9'; it has \"3.1\""),
    "[[chapter]]\nnumber = 3\nwithout = [3.2]\n": ("line 1", "in quotes"),
    '[[chapter]]\nnumber = 3\nwithout = [["3.2"]]\n': ("line 1", "in quotes"),
    '[[chapter]]\nnumber = 3\nonly = ["3.1"]\nwithout = ["3.2"]\n': ("line 1", "give only (what stays)"),
    "[[chapter]]\nnumber = 3\nonly = []\n": ("line 1", "only is empty"),
    "[[chapter]]\nnummer = 3\n": ("line 1", "nummer means nothing"),
    '[[chapter]]\nnotebook = "none.py"\n': ("line 1", "is not there"),
    '[[chapter]]\nnotebook = "ours.md"\n': ("line 1", "should end with"),
    '[[chapter]]\nnumber = 3\nlinks = ["x"]\n': ("line 1", "a link is written"),
    '[[chapter]]\nnumber = 3\ntitle = "a\\nb"\n': ("line 1", "without control characters"),
    'title = "nothing"\n': ("", "names no chapter"),
    "[[chapter]\n": ("", "is no TOML"),
}


@pytest.mark.parametrize("text", WRONG, ids=[words for _, words in WRONG.values()])
def test_a_wrong_course_is_refused_with_its_line(tmp_path, text):
    line, words = WRONG[text]
    with pytest.raises(UserError) as refused:
        read_course(course(tmp_path, text), Places())
    text_of = str(refused.value)
    assert line in text_of and words in text_of


def test_a_fault_in_a_teachers_notebook_writes_nothing(tmp_path):
    path = course(tmp_path, MINE, OURS.replace("    ### END SOLUTION\n", ""))
    with pytest.raises(UserError, match=r"ours\.py, line 12: ### BEGIN SOLUTION has no"):
        make_course(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_answer_of_a_left_out_exercise_that_another_uses_is_asked_for(tmp_path):
    path = course(tmp_path, '[[chapter]]\nnumber = 3\nwithout = ["3.2"]\n')
    source = CHAPTERS / "ch03_self_attention" / "03_self_attention.py"
    root = tmp_path / "course"
    room = root / "bertedu" / "chapters" / "ch03_self_attention"
    room.mkdir(parents=True)
    text = source.read_text("utf-8") + "\n# %%\nprint(attention)\n"
    (room / source.name).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="`attention` comes from an exercise that is left out"):
        make_course(path, places=Places(root))


def test_the_example_of_the_six_weeks_is_the_course_of_the_plan():
    read = read_course(EXAMPLE, Places())
    plan = (EXAMPLE.parent / "plans.md").read_text("utf-8").split("## Six weeks")[1].split("\n## ")[0]
    linked = set(re.findall(r"/ch(\d\d[a-z]?)_\w+/teaching\.md\)", plan))
    assert [entry.number for entry in read.entries] == ["01b", *(f"{number:02}" for number in range(14))]
    assert sorted(linked) == sorted(entry.number for entry in read.entries)
    assert [
        warning for warning in make_course(EXAMPLE).warnings if "You need" in warning or "leads nowhere" in warning
    ] == []


def test_the_command_writes_nothing_when_asked_to_check(tmp_path):
    path = course(tmp_path, '[[chapter]]\nnotebook = "ours.py"\n')
    told = CliRunner().invoke(main, ["course", str(path), "--check"])
    assert told.exit_code == 0 and "notebooks: 1, warnings: 4" in told.output, told.output
    assert sorted(one.name for one in tmp_path.iterdir()) == ["course.toml", "ours.py", "pics"]
    for arguments in ([], ["--check", "--output", str(tmp_path / "out")]):
        assert "give either --output" in CliRunner().invoke(main, ["course", str(path), *arguments]).output
