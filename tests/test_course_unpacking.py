"""`bertedu start`, `bertedu lab`, and the wheel that they come from: the course outside its repository."""

import json
import runpy
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.repository import REPOSITORY

from bertedu.cli import main
from bertedu.course import data
from bertedu.course.unpacking import RECORD, first_notebook, unpack
from bertedu.errors import UserError

NAMES = ["00_start_here.ipynb", "01_next.ipynb", "pictures/00_map.svg", "data/tasks/words/train.tsv"]


@pytest.fixture
def wheel(tmp_path, monkeypatch) -> Path:
    """An installed package with a course of three files in it."""
    course = tmp_path / "site-packages" / "bertedu" / "_course"
    for name in [*NAMES[:3], "solutions/00_start_here.ipynb", "notes.txt"]:
        (course / "notebooks" / name).parent.mkdir(parents=True, exist_ok=True)
        (course / "notebooks" / name).write_text(f"first edition of {name}")
    (course / "data" / "tasks" / "words").mkdir(parents=True)
    (course / NAMES[3]).write_text("first edition of the data")
    (course / "data" / "words.txt").write_text("from the wheel")
    monkeypatch.setattr(data, "IN_WHEEL", course)
    monkeypatch.setattr(data, "PACKAGE", course.parent)
    monkeypatch.chdir(tmp_path)
    return course


def call(*words: str):
    return CliRunner().invoke(main, list(words))


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_folder_gets_the_learners_notebooks_and_pictures_and_no_solutions(wheel):
    result = call("start", "my course")
    assert result.exit_code == 0 and "2 notebooks" in result.output and "bertedu lab 'my course'" in result.output
    assert files(Path("my course")) == sorted([RECORD, *NAMES])


def test_a_second_start_changes_nothing(wheel):
    unpack(Path("mine"))
    before = (Path("mine") / RECORD).read_text()
    assert "mine is up to date" in call("start", "mine").output
    assert (Path("mine") / RECORD).read_text() == before


def test_a_newer_course_replaces_what_was_not_changed_and_keeps_the_learners_work(wheel):
    unpack(Path("mine"))
    Path("mine", NAMES[0]).write_text("my answers")
    for name in NAMES[:3]:
        (wheel / "notebooks" / name).write_text(f"second edition of {name}")
    for _ in range(2):  # what was kept once is kept for ever
        result = unpack(Path("mine"))
        assert Path("mine", NAMES[0]).read_text() == "my answers" and result.kept == [NAMES[0]]
    assert Path("mine", NAMES[1]).read_text() == f"second edition of {NAMES[1]}"
    assert f"Kept as you have them: {NAMES[0]}" in call("start", "mine").output


def test_a_file_that_was_there_before_the_first_start_is_kept(wheel):
    Path("mine").mkdir()
    Path("mine", NAMES[1]).write_text("something else")
    assert unpack(Path("mine")).kept == [NAMES[1]] and Path("mine", NAMES[1]).read_text() == "something else"


def test_a_notebook_that_was_renamed_is_unpacked_anew(wheel):
    unpack(Path("mine"))
    Path("mine", NAMES[0]).rename(Path("mine", "my_start.ipynb"))
    assert unpack(Path("mine")).written == [NAMES[0]] and Path("mine", "my_start.ipynb").exists()


@pytest.mark.parametrize("name", ["a file", "site-packages/bertedu/_course/notebooks"])
def test_a_folder_that_cannot_be_the_learners_is_refused_in_a_sentence(wheel, name):
    Path("a file").write_text("mine")
    result = call("start", name)
    assert result.exit_code == 2 and result.stderr.startswith("bertedu: ") and "choose another" in result.stderr


def test_a_damaged_record_is_refused_and_nothing_is_replaced(wheel):
    unpack(Path("mine"))
    Path("mine", RECORD).write_text("{")
    with pytest.raises(UserError, match=RECORD):
        unpack(Path("mine"))


def test_lab_opens_chapter_00_of_the_folder_in_that_folder(wheel, monkeypatch):
    asked = []
    ended = type("Ended", (), {"returncode": 0})
    monkeypatch.setattr("subprocess.run", lambda command, **given: asked.append((command, given["cwd"])) or ended)
    unpack(Path("mine"))
    assert call("lab", "mine", "--no-browser").exit_code == 0
    ((command, folder),) = asked
    assert command[1:] == ["-m", "jupyterlab", NAMES[0], "--no-browser"] and folder == Path("mine")


def test_lab_works_in_the_folder_of_a_clone_and_says_what_to_do_in_an_empty_one(wheel, tmp_path):
    assert first_notebook(REPOSITORY) == REPOSITORY / "notebooks" / NAMES[0]
    result = call("lab")
    assert result.exit_code == 2 and "bertedu start my-course" in result.stderr


def test_the_data_of_an_installed_package_are_found_from_any_folder(wheel):
    Path("data").mkdir()
    Path("data", "words.txt").write_text("somebody else's")
    assert data.data_path("words.txt").read_text() == "from the wheel"


@pytest.mark.parametrize("command", ["assignment 03", "slides 03", "handout 03"])
def test_a_teachers_command_says_that_a_wheel_has_no_solved_notebooks(wheel, command, monkeypatch):
    from bertedu.course.building import places

    monkeypatch.setattr(places, "IN_WHEEL", wheel)
    result = call(*command.split(), "--output", "out")
    assert result.exit_code == 2 and "in a clone of the course, or in the unpacked zip" in result.stderr
    assert not Path("out").exists()


# The wheel -------------------------------------------------------------------------------------------------------


def setup_script(monkeypatch) -> dict:
    """What setup.py defines, without a build. New versions of Python bring no setuptools: pip fetches it to build."""
    monkeypatch.setattr(pytest.importorskip("setuptools"), "setup", lambda **given: None)
    return runpy.run_path(str(REPOSITORY / "setup.py"))


def test_the_wheel_takes_what_the_notebooks_read_and_no_solved_notebook(monkeypatch):
    taken = {path.as_posix() for path in setup_script(monkeypatch)["course_files"]()}
    assert {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "notebooks").glob("*.ipynb")} <= taken
    assert "data/checkpoints/mixed-mini/model.safetensors" in taken
    assert not [name for name in taken if "solutions" in Path(name).parts]


def test_the_files_of_the_course_go_where_the_package_looks_and_old_ones_go_away(tmp_path, monkeypatch):
    script = setup_script(monkeypatch)
    for name in ["notebooks/00_start_here.ipynb", "notebooks/solutions/00_start_here.ipynb", "data/a/b.txt"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    script["BuildWithCourse"].run.__globals__["ROOT"] = tmp_path
    monkeypatch.setattr("setuptools.command.build_py.build_py.run", lambda self: None)
    build = script["BuildWithCourse"](pytest.importorskip("setuptools").Distribution())
    build.build_lib, build.editable_mode = str(tmp_path / "build"), False
    course = tmp_path / "build" / "bertedu" / data.IN_WHEEL.name
    (course / "data").mkdir(parents=True)
    (course / "data" / "of_last_year.txt").touch()
    build.run()
    assert files(course) == ["data/a/b.txt", "notebooks/00_start_here.ipynb"]
    shutil.rmtree(course)
    build.editable_mode = True
    build.run()
    assert not course.exists()


def test_the_record_names_every_file_and_is_json_that_people_can_read(wheel):
    unpack(Path("mine"))
    assert sorted(json.loads(Path("mine", RECORD).read_text())["files"]) == sorted(NAMES)
