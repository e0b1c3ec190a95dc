"""Guesses, named measurements and pictures: what `bertedu build` keeps from a reader, and what it draws.

One small course is built; in it each kind of cell can differ: one that both versions share, a solved one, a guess, and
one that depends on an answer.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from support.repository import REPOSITORY

from bertedu.course import measured
from bertedu.course.building.build import build, outdated
from bertedu.course.building.drawing import draw, words_of
from bertedu.course.building.guesses import spoiled, with_answers
from bertedu.course.building.places import Places
from bertedu.course.building.rules import faults
from bertedu.course.measured import about
from bertedu.errors import UserError

SOURCE = """# %% [markdown]
# # 90 · Guessing
#
# ![A line that rises from 1 to 3.](pictures/90_rising.svg)

# %%
from bertedu.course import about, check, data_path
from bertedu.course.exercise import exercise


@exercise("90.1", "Doubling", difficulty=1, minutes=1, hints=("Twice what?", "Two times a."))
def doubled(case):
    case.equal("the result", case.call(4, tried="4"), 8, "Twice 4 is wanted.")

heights = [1, 2, 3]
print("shared", sum(heights))

# %% [markdown]
# How much is left?

# %% tags=["guess"]
left = about("left of it", 0.7512, within=0.01)
print(f"left: {left:.2f}, and exactly {6 * 7}")

# %% [markdown]
# ### Exercise 90.1 · Doubling
# ●○○○ · 1 minutes

# %% tags=["exercise"]
def double(a):
    ### BEGIN SOLUTION
    heights = 2 * a
    return heights
    ### END SOLUTION


check("90.1", double)

# %% tags=["exercise"]
try:
    print("depends", double(21))
except NotImplementedError:
    print("depends on your answer")
"""
PICTURES = '''"""The pictures of chapter 90."""

from bertedu.visualization.picture import new_figure


def rising(heights, left):
    """Heights, with what is left."""
    figure = new_figure(4, 2)
    axes = figure.subplots()
    axes.plot(heights)
    axes.set_title(f"left {left:.2f}")
    return figure
'''


def course(root: Path, source: str) -> Places:
    """A course of one chapter, with a picture that was drawn before."""
    places = Places(root)
    room = places.chapters / "ch90_guessing"
    for folder in (room, places.data, places.pictures):
        folder.mkdir(parents=True)
    (room / "90_guessing.py").write_text(source, encoding="utf-8")
    picture = "<svg xmlns='http://www.w3.org/2000/svg' width='3' height='3'/>"
    (places.pictures / "90_rising.svg").write_text(picture, encoding="utf-8")
    return places


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Places:
    """A course of one chapter, built with what it measures and draws."""
    places = course(tmp_path_factory.mktemp("course"), SOURCE)
    build(places=places, show_progress=False)
    return places


@pytest.fixture
def pair(built) -> list[NotebookNode]:
    """The learner's notebook and the solved one."""
    return [nbformat.read(str(path), as_version=4) for path in built.pair(built.all_sources()[0])]


def guess_of(notebook: NotebookNode) -> NotebookNode:
    (cell,) = (cell for cell in notebook.cells if "guess" in cell.metadata.get("tags", []))
    return cell


def test_a_guess_is_stored_without_output_for_the_learner_and_with_it_in_the_solution(pair):
    learner, solution = map(guess_of, pair)
    assert learner.outputs == [] and learner.execution_count is None
    assert "left: ≈ 0.75, and exactly 42" in solution.outputs[0].text


def test_a_course_with_a_withheld_guess_is_up_to_date(built):
    assert not outdated(places=built)


def test_the_comparison_gets_the_answers_of_guesses_and_keeps_all_other_outputs(pair):
    learner, solution = pair
    complete = with_answers(learner, solution)
    assert guess_of(complete).outputs == guess_of(solution).outputs and guess_of(complete).execution_count
    others = [one for one in zip(complete.cells, learner.cells, strict=True) if one[1] is not guess_of(learner)]
    assert all(new == old for new, old in others)
    assert guess_of(learner).outputs == [], "the notebook itself is as it was"


# In the learner's notebook (or, for the guess, in the solution) one number of an output is changed.
DIFFERENCES = {
    "shared": ("notebooks/90_guessing.ipynb", "shared 6", "shared 7"),
    "solved": ("notebooks/solutions/90_guessing.ipynb", "depends 42", "depends 43"),
    "guess": ("notebooks/solutions/90_guessing.ipynb", "exactly 42", "exactly 41"),
    "depends": ("notebooks/90_guessing.ipynb", r'"depends on your answer\n"', r'"depends on his answer\n"'),
}


def compared(course: Path) -> str:
    """What nbval says of a course's notebooks."""
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider"]
    command += ["--nbval-sanitize-with", str(REPOSITORY / "tests" / "nbval_sanitize.cfg"), "notebooks"]
    known = course / "bertedu" / "chapters" / "ch90_guessing" / "measured.json"
    environment = {**os.environ, measured.BUILDING: str(known), "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True).stdout


def test_the_comparison_finds_a_difference_in_each_kind_of_cell_and_none_where_there_is_none(built, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(built.root, root)
    shutil.copy(REPOSITORY / "conftest.py", root)
    said = compared(root)
    assert "8 passed" in said and "failed" not in said, said[-3000:]
    for file, old, new in DIFFERENCES.values():
        text = (root / file).read_text(encoding="utf-8")
        assert old in text
        (root / file).write_text(text.replace(old, new, 1), encoding="utf-8")  # an output stands before its code
    said = compared(root)
    failed = re.findall(r"^FAILED (\S+)", said, flags=re.MULTILINE)
    learner = [one for one in failed if "solutions" not in one]
    # The guess of the solution is compared twice: in the solution, and in the copy of the learner's.
    assert (len(learner), len(failed)) == (3, 5), said[-3000:]


def test_a_picture_is_drawn_from_the_numbers_of_the_notebook(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "pictures_of_90.py").write_text(PICTURES, encoding="utf-8")
    (file,) = draw("pictures_of_90", {"heights": [1, 2, 3], "left": 0.75}, tmp_path / "pictures", "90")
    assert file == tmp_path / "pictures" / "90_rising.svg" and "left 0.75" in words_of(file.read_text("utf-8"))
    before = file.read_bytes()
    draw("pictures_of_90", {"heights": [1, 2, 3], "left": 0.75}, tmp_path / "pictures", "90")
    assert file.read_bytes() == before, "the same numbers draw the same file"
    draw("pictures_of_90", {"heights": [1, 2, 3], "left": 0.5}, tmp_path / "pictures", "90")
    assert "left 0.50" in words_of(file.read_text("utf-8"))
    with pytest.raises(UserError, match="rising of chapter 90 needs left: no cell defines it"):
        draw("pictures_of_90", {"heights": [1, 2, 3]}, tmp_path / "pictures", "90")


def test_a_missing_picture_makes_its_notebook_out_of_date(built):
    picture = built.pictures / "90_rising.svg"
    kept = picture.read_bytes()
    picture.unlink()
    assert [why for _, why in outdated(places=built)] == ["a picture is missing"] * 2
    picture.write_bytes(kept)


def test_a_number_is_known_by_its_name_from_the_room_of_its_chapter(tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "CHAPTERS", tmp_path)
    (tmp_path / "ch90_guessing").mkdir()
    (tmp_path / "ch90_guessing" / "measured.json").write_text(json.dumps({"accuracy": 0.861}))
    monkeypatch.delenv(measured.BUILDING, raising=False)
    assert f"{about('accuracy', 0.87, within=0.03):.2f}" == "≈ 0.87"
    with pytest.raises(AssertionError, match=r"0\.861 was expected"):
        about("accuracy", 0.80, within=0.03)
    with pytest.raises(UserError, match="nothing was measured under the name 'acuracy'"):
        about("acuracy", 0.87, within=0.03)


def test_the_build_writes_down_what_nothing_is_known_of_and_keeps_what_is(tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "CHAPTERS", tmp_path)
    file = tmp_path / "ch90_guessing" / "measured.json"
    file.parent.mkdir()
    monkeypatch.setenv(measured.BUILDING, str(file))
    about("accuracy", 0.861, within=0.03)
    about("accuracy", 0.87, within=0.03)
    about("loss", 2.5, within=0.1)
    assert json.loads(file.read_text()) == {"accuracy": 0.861, "loss": 2.5}


def guess(code: str, shown: str) -> NotebookNode:
    output = new_output("stream", name="stdout", text=shown)
    return new_code_cell(code, metadata={"tags": ["guess"]}, outputs=[output])


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("It is about 3.41 bits.", "print(bits)", ""),
        ("", "print(about(3.41, bits, within=0.1))", ""),
        ("", "print(bits)", "Those 3.41 bits are what is left."),
        ("## 3.41 bits are left", "print(bits)", ""),
    ],
)
def test_an_answer_in_text_title_code_or_right_after_a_guess_is_found(before, code, after):
    cells = [new_markdown_cell(before), guess(code, "3.41 bits at d = 1024"), new_markdown_cell(after)]
    (sentence,) = spoiled(NotebookNode(cells=cells))
    assert "3.41" in sentence


def test_a_guess_is_not_spoiled_by_a_folded_answer_or_by_numbers_that_it_computes_with():
    folded = "Guess.\n\n<details><summary>Answer</summary>\n\n3.41 bits\n\n</details>"
    cells = [new_markdown_cell("At d = 1024?"), new_markdown_cell(folded)]
    cells += [guess("print(bits(1024))", "1024: 3.41"), new_markdown_cell("Now look at the last line.")]
    assert not list(spoiled(NotebookNode(cells=cells)))


def test_a_guess_is_not_spoiled_by_the_number_or_the_minutes_of_an_exercise():
    heading = new_markdown_cell("### Exercise 2.4 · Positions\n●●●○ · 15 minutes\n\nWrite a function.")
    guess = new_code_cell("tell()", metadata={"tags": ["guess"]}, outputs=[new_output("stream", text="2.4 and 15\n")])
    assert not list(spoiled(NotebookNode(cells=[heading, guess])))
    told = new_markdown_cell("### Exercise 2.4 · Positions\n●●●○ · 15 minutes\n\nThere are 15 of them.")
    assert list(spoiled(NotebookNode(cells=[told, guess])))


def test_a_guess_is_spoiled_by_a_number_in_a_picture_s_words_and_not_by_one_in_its_address():
    cells = [new_markdown_cell("![Fourteen rows.](pictures/14_rows.svg) Guess."), guess("print(rows)", "14 rows")]
    assert not list(spoiled(NotebookNode(cells=cells)))
    cells[0] = new_markdown_cell("![14 rows.](pictures/rows.svg) Guess.")
    assert list(spoiled(NotebookNode(cells=cells)))


def test_a_number_with_an_exponent_is_not_given_away_by_its_first_digits():
    cells = [new_markdown_cell("Exercise 3.4"), guess("print(smallest)", "-3.4e+38")]
    assert not list(spoiled(NotebookNode(cells=cells)))


def faults_with(guess: str, folder: Path) -> list[str]:
    """What is wrong with the course's source and one guess more."""
    places = course(folder, f'{SOURCE}\n# %% tags=["guess"]\n{guess}\n')
    return faults(places.all_sources()[0], places)


def test_a_guess_that_reads_an_answer_is_refused_before_anything_is_executed(tmp_path):
    (fault,) = faults_with("print(double(3))", tmp_path)
    assert "this guess depends on the exercise that defines double" in fault


@pytest.mark.parametrize(
    "code",
    [
        'from math import sqrt as double\n\n# %% tags=["guess"]\nprint(double(4))',
        "double = 4\nprint(double)",
        "print(heights)",  # a name of the chapter, and of a local one in the answer
    ],
)
def test_a_guess_may_read_what_only_has_the_name_of_an_answer(code, tmp_path):
    assert not faults_with(code, tmp_path)


def test_no_guess_of_the_course_is_spoiled():
    places = Places()
    notebooks = [nbformat.read(str(places.pair(source)[1]), as_version=4) for source in places.all_sources()]
    assert not [sentence for notebook in notebooks for sentence in spoiled(notebook)]


def test_a_name_of_a_measurement_belongs_to_one_chapter_and_is_used():
    seen: dict[str, Path] = {}
    for file in Places().chapters.glob("ch*/measured.json"):
        source = (file.parent / f"{file.parent.name.removeprefix('ch')}.py").read_text("utf-8")
        named = re.findall(r"""\babout\(f?["']([^"']+)["'],""", source)  # in a loop, a name is an f-string
        patterns = [".+".join(map(re.escape, re.split(r"\{[^}]*\}", name))) for name in named]
        for name in json.loads(file.read_text("utf-8")):
            assert name not in seen, f"{name!r} stands in {seen[name]} too"
            assert any(re.fullmatch(one, name) for one in patterns), f"{file} has {name!r}, which nothing measures"
            seen[name] = file
