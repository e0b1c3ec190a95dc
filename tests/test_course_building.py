"""Building: one source becomes two notebooks that run, repeat, and are known to be out of date when they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

from bertedu.course.building import freshness
from bertedu.course.building.build import build, main, outdated, strays
from bertedu.course.building.executing import ENVIRONMENT, keep_what_only_ran_again, scrub
from bertedu.course.building.freshness import made_from
from bertedu.course.building.places import Places
from bertedu.course.building.versions import learner_version, name_cells, read_source
from bertedu.errors import UserError
from bertedu.interview import bank

SOURCE = """# %% [markdown]
# # 90 · Adding

# %%
import torch

from bertedu.course import check, data_path
from bertedu.course.exercise import exercise

@exercise("90.1", "Add", difficulty=1, minutes=5, hints=("Look at +.", "It is a + b."))
def add(case):
    a, b = case.randn(2, 3), case.randn(2, 3)
    case.close("the sum", case.call(a, b, tried="two matrices"), a + b)

@exercise("90.2", "Guess", difficulty=1, minutes=5, kind="value", hints=("Count.", "It is even."))
def guess(case):
    case.predicted(4, "Count again.")

# %%
print(torch.ones(2, 2).sum().item(), data_path("words.txt").read_text().split())

# %% tags=["exercise"]
def my_sum(a, b):
    ### BEGIN SOLUTION
    return a + b
    ### END SOLUTION

check("90.1", my_sum)

# %% [markdown] tags=["solution"]
# It is the plus sign.

# %% tags=["exercise"]
### BEGIN SOLUTION
how_many = 4
### END SOLUTION
check("90.2", how_many)

# %%
check("90.1", lambda a, b: a @ b)

# %%
def endless(a, b):
    while True:
        a = a + b

import bertedu.course.checking
bertedu.course.checking.SECONDS = 0.2
check("90.1", endless)

# %% tags=["hide-input", "nbval-ignore-output"] slideshow={"slide_type": "skip"} collapsed=true
import time
print(f"took {time.perf_counter():.3f} s")
"""


def make_course(folder: Path, source: str = SOURCE) -> Places:
    path = folder / "bertedu" / "chapters" / "ch90_adding" / "90_adding.py"
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "words.txt").write_text("one two", encoding="utf-8")
    return Places(folder)


def source_of(places: Places) -> Path:
    return places.chapters / "ch90_adding" / "90_adding.py"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    places = make_course(tmp_path_factory.mktemp("course"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERTEDU_DATA", str(places.data))
        build(places=places, show_progress=False)
    return places


@pytest.fixture
def course(built, tmp_path, monkeypatch):
    """A copy of the built course, to spoil."""
    shutil.copytree(built.root, tmp_path / "course")
    monkeypatch.setenv("BERTEDU_DATA", str(tmp_path / "course" / "data"))
    return Places(tmp_path / "course")


def read(path: Path):
    return nbformat.read(str(path), as_version=4)


def text_of(cell) -> str:
    return "".join(output.get("text") or output["data"]["text/plain"] for output in cell.outputs)


def why(places: Places) -> list[str]:
    return [reason for _, reason in outdated(places=places)]


def test_a_learner_does_not_see_the_solution(built):
    learner, solved = map(read, built.pair(source_of(built)))
    assert len(solved.cells) == len(learner.cells) + 1
    assert "a + b" not in learner.cells[3].source and "return a + b" in solved.cells[3].source
    assert "    raise NotImplementedError  # Your turn" in learner.cells[3].source
    assert "how_many = ...  # Your turn" in learner.cells[4].source
    assert not any("SOLUTION" in cell.source or "plus sign" in cell.source for cell in learner.cells)
    assert [text_of(learner.cells[i]).splitlines()[0][5:] for i in (3, 4)] == ["· not attempted yet."] * 2
    assert [text_of(solved.cells[i]).splitlines()[0][5:] for i in (3, 5)] == ["· yes."] * 2


def test_a_kernel_shows_the_learners_line_and_ends(built):
    cells = read(built.pair(source_of(built))[0]).cells
    assert 'It happened in your line: check("90.1", lambda a, b: a @ b)' in text_of(cells[5])
    assert "It was still running after 0.2 seconds" in text_of(cells[6])


def test_a_notebook_is_stored_with_outputs_that_repeat(built):
    for path in built.pair(source_of(built)):
        notebook = read(path)
        assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
        assert text_of(notebook.cells[2]) == "4.0 ['one', 'two']\n"
        assert set(notebook.metadata) == {"kernelspec", "language_info", "bertedu"}
        assert notebook.metadata.language_info == {"name": "python"}
        assert all(set(cell.metadata) <= {"tags"} for cell in notebook.cells[:-1])
        assert path.read_bytes().endswith(b"}\n") and b"\r" not in path.read_bytes()


def test_a_cell_that_only_draws_is_folded_and_slides_are_kept(built):
    for path in built.pair(source_of(built)):
        assert read(path).cells[-1].metadata == {
            "tags": ["hide-input", "nbval-ignore-output"],
            "jupyter": {"source_hidden": True},
            "slideshow": {"slide_type": "skip"},
        }


def test_metadata_for_a_grader_is_kept_and_text_stays_visible(tmp_path):
    grader = '{"grade": true, "grade_id": "a", "points": 2}'
    source = f'# %% nbgrader={grader}\n1\n\n# %% [markdown] tags=["hide-input"]\n# a\n'
    places = make_course(tmp_path, source)
    code, text = read_source(source_of(places)).cells
    assert code.metadata == {"nbgrader": {"grade": True, "grade_id": "a", "points": 2}}
    assert text.metadata == {"tags": ["hide-input"]}


@pytest.mark.slow
def test_building_again_changes_no_byte(course):
    assert why(course) == [] and build(places=course, show_progress=False) == []
    learner = course.pair(source_of(course))[0]
    before = learner.read_bytes()
    learner.write_bytes(before.replace(b'"made_from": "', b'"made_from": "0'))
    assert build(places=course, show_progress=False) == [learner]
    assert learner.read_bytes() == before


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_better_sentence_keeps_the_outputs_and_runs_nothing(course, monkeypatch):
    """Prose is read by people alone: minutes of training for a comma would keep authors from mending it."""
    before = [read(path) for path in course.pair(source_of(course))]
    source = source_of(course)
    source.write_text(
        SOURCE.replace("# # 90 · Adding", "# # 90 · Adding two numbers\n#\n# How do you add?"), encoding="utf-8"
    )
    monkeypatch.setattr("bertedu.course.building.build.execute", lambda *_: pytest.fail("a notebook was executed"))
    assert len(build(places=course, show_progress=False)) == 2 and not outdated(places=course)
    for old, path in zip(before, course.pair(source), strict=True):
        assert read(path).cells[0].source == "# 90 · Adding two numbers\n\nHow do you add?"
        assert read(path).cells[1:] == old.cells[1:]


@pytest.mark.parametrize(
    ("old", "new"),
    [("ones(2, 2)", "ones(3, 2)"), ('# %% tags=["exercise"]\n### BEGIN', '# %% tags=["exercise", "more"]\n### BEGIN')],
)
def test_changed_code_is_executed_again(course, monkeypatch, old, new):
    source_of(course).write_text(SOURCE.replace(old, new), encoding="utf-8")
    executed = []

    def execute(notebook, folder, name, after_cell, last, environment):
        executed.append(name)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.execution_count = 1
        return []

    monkeypatch.setattr("bertedu.course.building.build.execute", execute)
    build(places=course, show_progress=False)
    assert len(executed) == 2


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda c, learner: replace(source_of(c), "two matrices", "three"), "not what its source says"),
        (lambda c, learner: replace(source_of(c), "· Adding", "· Sums"), "not what its source says"),
        (lambda c, learner: replace(source_of(c), "nbval-ignore-output", "other"), "not what its source says"),
        (lambda c, learner: replace(c.data / "words.txt", "two", "three"), "made with an older"),
        (lambda c, learner: learner.unlink(), "missing"),
        (lambda c, learner: replace(learner, "{", ""), "damaged"),
        (lambda c, learner: learner.write_text("[]"), "damaged"),
        (lambda c, learner: learner.write_text("[" * 100_000), "damaged"),
        (lambda c, learner: replace(learner, '"source": [', '"sauce": ['), "damaged"),
        (lambda c, learner: replace(learner, '"cells": [', '"cells": ["",'), "damaged"),
        (lambda c, learner: replace(learner, '"bertedu": {', '"bertedu": [], "other": {'), "made with an older"),
        (lambda c, learner: replace(learner, "sum()", "sum( )"), "not what its source says"),
        (lambda c, learner: replace(learner, 'hidden": true', 'hidden": false'), "not what its source says"),
        (lambda c, learner: replace(learner, '"execution_count": 2', '"execution_count": null'), "not executed"),
    ],
)
def test_a_stale_notebook_is_told_with_its_reason(course, spoil, reason):
    spoil(course, course.pair(source_of(course))[0])
    assert why(course) and all(reason in found for found in why(course))


def test_a_changed_module_makes_its_notebooks_stale(course, monkeypatch):
    loaded = read(course.pair(source_of(course))[1]).metadata.bertedu.modules.split()
    assert {"bertedu", "bertedu.course.case", "bertedu.errors"} <= set(loaded)
    code_of = freshness.code_of
    monkeypatch.setattr(freshness, "code_of", lambda name: code_of(name) + "x = 1\n" * (name == "bertedu.course.case"))
    assert why(course) == ["made with an older package, quiz or data"] * 2


def test_a_module_that_no_cell_loads_leaves_notebooks_fresh(course, monkeypatch):
    code_of, changed = freshness.code_of, ("bertedu.cli", "bertedu.pretraining.run", "bertedu.course.building.build")
    monkeypatch.setattr(freshness, "code_of", lambda name: code_of(name) + "x = 1\n" * (name in changed))
    assert why(course) == []


def test_a_module_that_is_gone_makes_its_notebooks_stale(course):
    for path in course.pair(source_of(course)):
        path.write_text(path.read_text("utf-8").replace('"modules": "', '"modules": "bertedu.gone '), "utf-8")
    assert why(course) == ["made with an older package, quiz or data"] * 2


MODULE = """'One sentence.'
class A:
    'Another.'
    async def f(self, x: int = 1) -> str:
        'A third.'
        return f'{x!r}', None, {**x}  # a comment
"""


def made_with(monkeypatch, course: Places, code: str) -> str:
    monkeypatch.setattr(freshness, "code_of", lambda name: code)
    return made_from(source_of(course), course, "bertedu.module")


@pytest.mark.parametrize(
    ("old", "new"),
    [("One sentence.", "Two."), ("Another.", "One"), ("A third.", "A 3rd."), ("# a", "# no"), ("\n    a", "\n\n    a")],
)
def test_a_word_in_a_docstring_leaves_notebooks_fresh(tmp_path, monkeypatch, old, new):
    course = make_course(tmp_path / "course")
    assert old in MODULE
    before = made_with(monkeypatch, course, MODULE)
    assert made_with(monkeypatch, course, MODULE.replace(old, new)) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [("= 1", "= 2"), ("!r", "!s"), ("async ", ""), ("None", "0"), ("**x", "'x': x"), ("        'A", "        0; 'A")],
)
def test_what_a_module_does_or_says_when_it_runs_makes_notebooks_stale(tmp_path, monkeypatch, old, new):
    """The last one makes a string of the docstring. Sentences of checks are such strings: learners read them."""
    course = make_course(tmp_path / "course")
    before = made_with(monkeypatch, course, MODULE)
    assert made_with(monkeypatch, course, MODULE.replace(old, new)) != before


def test_a_changed_sentence_of_a_check_is_noticed(tmp_path, monkeypatch):
    course = make_course(tmp_path / "course")
    exercise = "def sum_exercise(case):\n    'Not said.'\n    case.predicted(4, 'Count again.')\n"
    before = made_with(monkeypatch, course, exercise)
    assert made_with(monkeypatch, course, exercise.replace("Not said.", "Silent.")) == before
    assert made_with(monkeypatch, course, exercise.replace("Count again.", "Count once more.")) != before


def test_a_word_in_a_readme_of_the_data_leaves_notebooks_fresh(tmp_path):
    course = make_course(tmp_path, SOURCE.replace("words.txt", "texts"))
    (course.data / "texts").mkdir()
    for name in ("README.md", "words.txt"):
        (course.data / "texts" / name).write_text("one two", encoding="utf-8")
    before = made_from(source_of(course), course, "")
    (course.data / "texts" / "README.md").write_text("three", encoding="utf-8")
    assert made_from(source_of(course), course, "") == before
    (course.data / "texts" / "words.txt").write_text("three", encoding="utf-8")
    assert made_from(source_of(course), course, "") != before


def test_the_questions_of_all_rooms_count_where_the_bank_is_read(tmp_path):
    course = make_course(tmp_path)
    room = course.chapters / "ch04_next"
    room.mkdir()
    found = {}
    for words in ("one", "two"):
        (room / bank.QUESTIONS).write_text(words, encoding="utf-8")
        found[words] = [made_from(source_of(course), course, modules) for modules in (bank.__name__, "bertedu.files")]
    assert found["one"][0] != found["two"][0] and found["one"][1] == found["two"][1]


def test_a_notebook_depends_on_no_exercise_of_another_chapter(course):
    assert "bertedu.chapters.ch" not in read(course.pair(source_of(course))[0]).metadata.bertedu.modules


def test_a_notebook_without_a_source_is_a_stray(course):
    shutil.copy(course.pair(source_of(course))[0], course.notebooks / "91_gone.ipynb")
    assert strays(course) == [course.notebooks / "91_gone.ipynb"]


def test_a_failing_cell_is_named(tmp_path):
    places = make_course(tmp_path, "# %%\n1 / 0\n")
    with pytest.raises(UserError, match=r"90_adding.ipynb: a cell raised ZeroDivisionError(.|\n)*1 / 0"):
        build(places=places, show_progress=False)
    assert not any(path.exists() for path in places.pair(source_of(places)))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("for i in x:\n    ### BEGIN SOLUTION\n    print(i)\n    ### END SOLUTION", "not inside a function"),
        ("def f(a):\n    b = a\n    ### BEGIN SOLUTION\n    return b\n    ### END SOLUTION", "f has other lines"),
        ("def f():\n    ### BEGIN SOLUTION\n    return 1", "no end solution"),
        ("### BEGIN SOLUTION\na = 1\nb = 2\n### END SOLUTION", "one assignment"),
        ("### BEGIN SOLUTION\nprint(1)\n### END SOLUTION", "one assignment"),
    ],
)
def test_a_stub_that_would_stop_the_notebook_is_refused(tmp_path, code, words):
    places = make_course(tmp_path, f"# %%\n{code}\n")
    with pytest.raises(UserError, match=words):
        learner_version(read_source(source_of(places)), source_of(places))


def test_an_edit_keeps_the_ids_of_other_cells():
    first = [new_code_cell("a"), new_code_cell("b"), new_code_cell("b")]
    name_cells(first)
    second = [new_code_cell("new"), *(new_code_cell(cell.source) for cell in first)]
    name_cells(second)
    assert [cell.id for cell in first] == [cell.id for cell in second[1:]]
    assert len({cell.id for cell in second}) == 4


def test_a_widget_and_a_traceback_are_stored_alike_each_time():
    view = {"text/plain": "VBox()", "application/vnd.jupyter.widget-view+json": {"model_id": "1f"}}
    failed = new_output("error", ename="ValueError", evalue="no", traceback=["/tmp/ipykernel_1/2.py"])
    notebook = nbformat.v4.new_notebook(cells=[new_code_cell("x", outputs=[new_output("display_data", view), failed])])
    notebook.metadata.widgets = {"state": 1}
    scrub(notebook)
    shown, error = notebook.cells[0].outputs
    assert shown.data == {"text/plain": "VBox()"} and error.traceback == ["ValueError: no"]
    assert "widgets" not in notebook.metadata


@pytest.mark.parametrize(("text", "kept"), [("took 2.1 ms", True), ("took long", False)])
def test_times_keep_their_stored_outputs_and_changes_are_stored(text, kept):
    """All outputs are kept or none: a rate of one run divided by that of another would be told as their ratio."""

    def notebook(*said):
        cells = [new_code_cell("x", id=f"x{i}", metadata={"tags": ["nbval-ignore-output"]}) for i in range(len(said))]
        for cell, text in zip(cells, said, strict=True):
            cell.outputs = [new_output("stream", name="stdout", text=text)]
        return nbformat.v4.new_notebook(cells=cells)

    fresh = notebook("rate 8", text)
    keep_what_only_ran_again(fresh, notebook("rate 25", "took 13 ms"))
    told = [cell.outputs[0].text for cell in fresh.cells]
    assert told == (["rate 25", "took 13 ms"] if kept else ["rate 8", text])


def test_an_unknown_chapter_is_refused(course):
    with pytest.raises(UserError, match="no source for 17"):
        outdated(("17",), course)
    with pytest.raises(UserError, match="no source for an empty name"):
        outdated(("",), course)
    assert outdated(("90",), course) == []


def test_check_exits_with_1_where_notebooks_are_stale(course, monkeypatch, capsys):
    monkeypatch.setattr("bertedu.course.building.build.Places", lambda: course)
    assert main((), check=True) == 0
    source_of(course).write_text(SOURCE + "# a change\n")
    assert main((), check=True) == 1
    assert "notebooks/90_adding.ipynb: not what its source says" in capsys.readouterr().out


@pytest.mark.slow
def test_stored_outputs_repeat(course):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env"]
    command += ["--nbval-sanitize-with", str(Path(__file__).with_name("nbval_sanitize.cfg")), str(course.notebooks)]
    environment = {**os.environ, **ENVIRONMENT}
    done = subprocess.run(command, env=environment, cwd=course.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "14 passed" in done.stdout, done.stdout
