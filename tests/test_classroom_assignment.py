"""Assignments: what learners get, what nbgrader is told, what grading reads."""

import hashlib
import json
import sys
import zipfile
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import IncludeHeaderFooter, SaveCells
from nbgrader.utils import is_grade, is_locked, is_solution

from bertedu.classroom import assignment
from bertedu.classroom.assignment import make_assignment, solved_version
from bertedu.classroom.assignment_cells import with_graded_cells
from bertedu.classroom.assignment_choices import read_due, read_points
from bertedu.classroom.assignment_file import read_assignment
from bertedu.classroom.assignment_nbgrader import RELEASE_STEPS
from bertedu.cli import main
from bertedu.course.building.places import Places
from bertedu.course.building.versions import learner_version, read_source
from bertedu.course.loading import exercises_of
from bertedu.course.rooms import number_of
from bertedu.errors import UserError

SOURCES = Places().all_sources()
NOW = datetime(2026, 11, 23, 12, 0).astimezone()


def released(solved: NotebookNode) -> NotebookNode:
    """What nbgrader's steps make of a notebook, without its database."""
    resources = {"nbgrader": {}, "unique_key": "notebook"}
    for step in RELEASE_STEPS:
        if step not in (SaveCells, IncludeHeaderFooter):
            solved, resources = step().preprocess(solved, resources)
    return solved


def answers_of(path: Path) -> list[str]:
    """The lines of a source between its marks that are long enough to be nobody else's."""
    found, inside = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        inside = (inside or "### BEGIN SOLUTION" in line) and "### END SOLUTION" not in line
        found += [line.strip()] if inside and len(line.strip()) > 40 and "SOLUTION" not in line else []
    return found


def codes(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("only_exercises", [False, True], ids=["chapter", "exercises"])
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_chapter_is_released_without_solutions_and_with_graded_cells(path, only_exercises):
    solved, graded = with_graded_cells(solved_version(path, Places(), only_exercises, SOURCES), {}, 0.0, path.name)
    notebook = released(solved)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    own = exercises_of(number_of(path))
    points = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points for cell in codes(notebook) if is_grade(cell)
    }
    assert points == {f"check-{one.number.replace('.', '-')}": one.difficulty for one in own}
    assert {one.exercise.number for one in graded} == {one.number for one in own}
    assert all(is_locked(cell) and not cell.metadata.editable for cell in codes(notebook) if is_grade(cell))
    answers = [cell for cell in codes(notebook) if is_solution(cell)]
    assert len(answers) == len(own) and all("Your turn" in cell.source for cell in answers)
    everything = "\n".join(cell.source for cell in notebook.cells)
    assert "SOLUTION" not in everything and "HIDDEN TESTS" not in everything and "Solution, explained" not in everything
    assert not [cell for cell in codes(notebook) if "exercise" in cell.metadata.get("tags", []) and cell.outputs]
    if not only_exercises:
        others = [cell for cell in codes(notebook) if "exercise" not in cell.metadata.get("tags", [])]
        assert any(cell.outputs for cell in others), "the chapter's outputs are gone"
    public = "\n".join(cell.source for cell in learner_version(read_source(path), path).cells)
    given_away = [line for line in answers_of(path) if line in everything and line not in public]
    assert not given_away, "learners can read the answer"


def cells(text: str) -> NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(part.strip()) for part in text.split("# ---")])


ANSWER = "### BEGIN SOLUTION\nweight_of_lamp = 0.33\n### END SOLUTION\ncheck('3.1', weight_of_lamp)"


def with_own(text: str, place: int = 0, **own) -> tuple[NotebookNode, list]:
    notebook = cells(text)
    notebook.cells[place].metadata.nbgrader = NotebookNode(own)
    return with_graded_cells(notebook, {}, 0.0, "here")


def test_the_points_of_a_source_are_kept_and_the_teachers_own_count_more():
    notebook, graded = with_own(ANSWER, points=7)
    assert [cell.metadata.nbgrader.get("points") for cell in notebook.cells] == [None, 7] and graded[0].points == 7
    assert with_graded_cells(notebook, {"3.1": 5.0}, 0.0, "here")[1][0].points == 5


def test_an_answer_that_the_source_wants_graded_by_hand_is_left_to_a_person():
    notebook, graded = with_own(ANSWER, grade=True, solution=True, points=3, grade_id="by-hand")
    assert [cell.metadata.nbgrader.grade_id for cell in notebook.cells] == ["by-hand"]
    assert (graded[0].answer_cell, graded[0].check_cell, graded[0].points) == ("by-hand", "by-hand", 3)


def test_an_authors_own_division_keeps_its_cells_and_its_test():
    notebook = cells("### BEGIN SOLUTION\na = 1\n### END SOLUTION\n# ---\nassert a\ncheck('3.1', a)")
    notebook.cells[0].metadata.nbgrader = NotebookNode(solution=True, grade_id="mine")
    notebook.cells[1].metadata.nbgrader = NotebookNode(grade=True, grade_id="my-test", points=2)
    made, graded = with_graded_cells(notebook, {}, 0.0, "here")
    assert [cell.metadata.nbgrader.grade_id for cell in made.cells] == ["mine", "my-test"]
    assert made.cells[1].source.startswith("assert a\n") and "scored(points=2" in made.cells[1].source
    assert (graded[0].answer_cell, graded[0].answer) == ("mine", "a")
    with pytest.raises(UserError, match=r"exercise 3\.1: its check is graded"):
        with_own("check('3.1', 1)", grade=True, grade_id="alone", points=1)


def test_metadata_of_graders_slides_and_hidden_cells_reach_learners(tmp_path):
    slide, own = '{"slide_type": "slide"}', '{"points": 7}'
    path = tmp_path / "03_x.py"
    path.write_text(
        f'# %% slideshow={slide} tags=["hide-input"]\n1\n\n# %% tags=["exercise"] nbgrader={own}\n'
        "### BEGIN SOLUTION\na = 1\n### END SOLUTION\ncheck('3.1', a)\n",
        encoding="utf-8",
    )
    source = read_source(path)
    for notebook in (learner_version(source, path), with_graded_cells(source, {}, 0.0, "here")[0]):
        first, last = notebook.cells[0].metadata, notebook.cells[-1].metadata
        assert first.slideshow == {"slide_type": "slide"} and first.jupyter == {"source_hidden": True}
        assert last.nbgrader.points == 7


@pytest.mark.parametrize(
    "typed", ["3.2", "3.2=", "=4", "3.2=four", "3.2=0", "3.2=-1", "3.2=nan", "3.2=1e9", "4.1=2", ""]
)
def test_impossible_points_are_refused(typed):
    with pytest.raises(UserError, match="--points"):
        read_points([typed], ["3.1", "3.2"])


def test_points_of_one_exercise_are_given_once():
    assert read_points(["3.2=4", "3.1 = 2.5"], ["3.1", "3.2"]) == {"3.2": 4.0, "3.1": 2.5}
    with pytest.raises(UserError, match=r"3\.2 has been given 4 already"):
        read_points(["3.2=4", "3.2=5"], ["3.1", "3.2"])


@pytest.mark.parametrize(
    "typed", ["", "tomorrow", "1.12.2026", "2026-13-01", "2026-02-30", "9999-99-99", "2026-12-01 25:00"]
)
def test_a_date_in_no_format_is_refused(typed):
    with pytest.raises(UserError, match="is no date"):
        read_due(typed, NOW)


def test_a_date_that_has_passed_is_refused_and_today_lasts_until_midnight():
    assert read_due("2026-11-23", NOW).strftime("%H:%M") == "23:59"
    assert read_due("2026-11-23 18:00", NOW).utcoffset() is not None
    for typed in ("2026-11-22", "2026-11-23 11:59", "0001-01-01"):
        with pytest.raises(UserError, match=r"has passed|is no date"):
            read_due(typed, NOW)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("assignments") / "week 3"
    due = f"{datetime.now().year + 1}-12-01 18:00"
    make_assignment(["3"], folder, only_exercises=True, points=["3.2=4.5"], due=due, almost=0.5)
    return folder


def test_grading_reads_the_notebooks_that_were_released(made):
    found = read_assignment(made)
    assert (found.chapters, found.almost, found.points) == (("03",), 0.5, 13.5)
    assert found.due_time.hour == 18 and found.due_time.utcoffset() is not None
    for notebook in found.notebooks:
        path = made / "release" / notebook.file
        assert hashlib.sha256(path.read_bytes()).hexdigest() == notebook.sha256
        ids = [cell.metadata.nbgrader.grade_id for cell in codes(nbformat.read(path, 4)) if "nbgrader" in cell.metadata]
        own = [one for one in found.exercises if one.notebook == notebook.file]
        assert ids == [name for one in own for name in (one.answer_cell, one.check_cell)]
        copies = [made / "nbgrader" / "release" / found.name, made / "lms" / found.name]
        assert all((copy / notebook.file).read_bytes() == path.read_bytes() for copy in copies)
    assert [one.answer for one in found.exercises][:2] == ["weight_of_lamp", "attention"]


def test_the_file_for_a_platform_has_its_notebook_and_instructions(made):
    (archive,) = (made / "lms").glob("*.zip")
    names = set(zipfile.ZipFile(archive).namelist())
    assert {"chapter-03/03_self_attention.ipynb", "chapter-03/README.md"} <= names
    text = (made / "lms" / "chapter-03" / "README.md").read_text(encoding="utf-8")
    assert "| 3.2 | Attention in four lines | 4.5 |" in text and "01 December" in text and "13.5 |" in text


def test_a_damaged_assignment_is_refused(made, tmp_path):
    good = json.loads((made / "assignment.json").read_text(encoding="utf-8"))
    exercise = {**good["exercises"][0], "points": "many"}
    for damage in (
        {"format": 1},
        {"exercises": None},
        {"exercises": [exercise]},
        {"due": 5},
        {"chapters": [3]},
        {"x": 1},
    ):
        (tmp_path / "assignment.json").write_text(json.dumps({**good, **damage}), encoding="utf-8")
        with pytest.raises(UserError, match=r"make the assignment again|Make the assignment again"):
            read_assignment(tmp_path)
    with pytest.raises(UserError, match=r"it has no assignment\.json"):
        read_assignment(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["99", "--output", "{new}"], "no source for 99"),
        (["three", "--output", "{new}"], "no source for three"),
        (["--output", "{new}"], "Missing argument"),
        (["3"], "Missing option '--output'"),
        (["3", "--output", ""], "the name is empty"),
        (["3", "--output", "{made}"], "is there already"),
        (["3", "--output", "{made}/assignment.json/x"], "could not be written"),
        (["3", "--output", "{new}", "--points", "3.2"], "write the exercise and its points"),
        (["3", "--output", "{new}", "--points", "6.1=2"], "6.1 is no exercise of these chapters"),
        (["3", "--output", "{new}", "--due", "2020-01-01"], "has passed"),
        (["3", "--output", "{new}", "--due", "soon"], "is no date"),
        (["3", "--output", "{new}", "--almost", "1.5"], "give a share of the points"),
        (["3", "--output", "{new}", "--almost", "nan"], "is not a finite number"),
    ],
)
def test_what_cannot_be_assigned_is_refused_and_leaves_no_folder(made, tmp_path, words, said):
    filled = [word.format(new=tmp_path / "new", made=made) for word in words]
    result = CliRunner().invoke(main, ["assignment", *filled])
    assert result.exit_code == 2 and said in result.output and "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_a_missing_nbgrader_is_told_in_words(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("bertedu.classroom.assignment", "nbgrader"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nbgrader", None)
    result = CliRunner().invoke(main, ["assignment", "3", "--output", str(tmp_path / "new")])
    assert result.exit_code == 2 and "nbgrader is not installed: python -m pip install" in result.output


def test_a_failure_of_nbgrader_leaves_no_folder(tmp_path, monkeypatch):
    def fails(folder, *_):
        (folder / "source").mkdir(parents=True)
        raise UserError("nbgrader could not generate chapter-03")

    monkeypatch.setattr(assignment, "make_course_folder", fails)
    with pytest.raises(UserError, match="nbgrader could not generate chapter-03"):
        make_assignment(["3"], tmp_path / "new")
    assert not list(tmp_path.iterdir())
