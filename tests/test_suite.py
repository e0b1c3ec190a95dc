"""The suite itself: a small fixed part of the slow tests runs by default, and all of them with --thorough; `make check`
runs what belongs to the files that differ from main.
"""

import shutil
import subprocess

import pytest
from support import changed
from support.changed import ALWAYS, FEW, MANY, ROOMS, chosen, differing, imports, named, rooms
from support.slow_cases import evenly

pytest_plugins = ["pytester"]
SLOW = """
import pytest

@pytest.mark.slow(cases=2)
@pytest.mark.parametrize("n", range(6))
def test_many(n):
    assert n in (0, 3)

@pytest.mark.slow(cases=0)
def test_nightly():
    assert False

@pytest.mark.slow
@pytest.mark.parametrize("n", range(2))
def test_all(n, thorough):
    assert not thorough

def test_quick():
    pass
"""


@pytest.fixture
def suite(pytester, request):
    pytester.makeconftest((request.config.rootpath / "tests" / "conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers = slow\naddopts = --strict-markers -p no:cacheprovider")
    pytester.makepyfile(test_slow=SLOW)
    return pytester


@pytest.mark.parametrize(
    ("asked", "passed", "failed", "left"),
    [
        ([], 5, 0, 5),
        (["-m", "not slow"], 1, 0, 9),
        (["-k", "many and not 0"], 1, 1, 8),  # 1 and 3 of those asked for
        (["--thorough"], 3, 7, 0),
        (["test_slow.py::test_many[3]"], 1, 0, 0),
    ],
)
def test_a_small_fixed_part_of_the_slow_tests_runs_by_default(suite, asked, passed, failed, left):
    suite.runpytest_inprocess(*asked).assert_outcomes(passed=passed, failed=failed, deselected=left)


def test_cases_are_spread_evenly():
    assert evenly("abcdef", 2) == ["a", "d"]
    assert evenly("abcde", 3) == ["a", "b", "d"]
    assert evenly("abc", 5) == ["a", "b", "c"]
    assert evenly("abc", 0) == []


# make check --------------------------------------------------------------------------------------------------------


needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path):
    """A repository with three files on main, and a branch."""
    git(tmp_path, "init")
    for name in ("kept.py", "gone.py", "old name.py"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / ".gitignore").write_text("runs/\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    git(tmp_path, "checkout", "-b", "branch")
    return tmp_path


@needs_git
def test_what_differs_from_main_is_told_whether_it_is_committed_or_not(clone):
    assert differing(clone) == set()
    (clone / "gone.py").unlink()
    git(clone, "mv", "old name.py", "new name.py")
    git(clone, "commit", "-am", "second")
    (clone / "kept.py").write_text("changed")
    (clone / "new ü.py").touch()
    (clone / "runs").mkdir()
    (clone / "runs" / "ignored.py").touch()
    assert differing(clone) == {"gone.py", "old name.py", "new name.py", "kept.py", "new ü.py"}


@needs_git
def test_what_others_did_on_main_meanwhile_is_no_change_of_ones_own(clone):
    (clone / "mine.py").touch()
    git(clone, "add", "mine.py")
    git(clone, "commit", "-m", "mine")
    git(clone, "checkout", "main")
    (clone / "kept.py").write_text("theirs")
    git(clone, "commit", "-am", "theirs")
    git(clone, "checkout", "branch")
    assert differing(clone) == {"mine.py"}


def test_a_folder_that_is_no_clone_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(SystemExit, match="git does not say what differs from main"):
        differing(tmp_path)


@pytest.mark.parametrize(
    ("path", "there", "not_there"),
    [
        ("bertedu/model/attention.py", {"model_heads", "training_lean_modules", "jax_model"}, "search_bm25"),
        ("bertedu/family/deberta/new.py", {"family_deberta", "family_dropout"}, "search_bm25"),
        ("bertedu/finetuning/tasks/new.py", {"finetuning_tasks", "finetuning_task"}, "course_exercises"),
        ("bertedu/chapters/ch03_self_attention/teaching.md", {*ROOMS} - {"chapters"}, "model_heads"),
        ("tests/chapters/ch03_self_attention/exercise_2.py", {"course_exercises", "chapters_terms"}, "model_heads"),
        ("notebooks/solutions/03_self_attention.ipynb", {"notebooks", "interview_in_chapters"}, "model_heads"),
        ("tests/interview_drills/gelu.py", {"course_exercises", "interview_drills"}, "model_heads"),
        ("tests/test_search_bm25.py", {"search_bm25"}, "search_index"),
        ("tests/support/malformed.py", {"corpora_malformed"}, "search_index"),
        ("benchmarks/search.py", {"benchmark_search"}, "search_index"),
        ("Makefile", {"makefile"}, "search_index"),
        ("docs/finetuning.md", {"finetuning_tasks"}, "search_index"),
        ("tests/test_that_is_gone.py", set(), "search_index"),
    ],
)
def test_a_change_runs_the_tests_of_its_folder_those_that_import_it_and_those_that_name_it(path, there, not_there):
    files = {file.removeprefix("tests/test_").removesuffix(".py") for file in chosen([path])}
    assert there <= files and not_there not in files


def test_of_the_many_tests_that_import_one_module_some_are_run():
    importing = {name for name, imported in imports().items() if "bertedu.errors" in imported}
    files = {file.removeprefix("tests/test_").removesuffix(".py") for file in chosen(["bertedu/errors.py"])}
    assert "errors" in files and MANY <= len(files & importing) < MANY + len(named(*ALWAYS)) < len(importing)


def test_every_group_of_tests_that_is_named_is_there():
    assert all(named(name) for name in (*ALWAYS, *ROOMS))


def test_of_many_cases_few_run_and_all_that_name_a_changed_chapter(pytester, request, monkeypatch):
    pytester.makeconftest((request.config.rootpath / "tests" / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("room", [f"ch{n:02}_room" for n in range(26)])
        @pytest.mark.parametrize("rule", range(10))
        def test_rooms(room, rule):
            pass
    """)
    monkeypatch.setattr(changed, "differing", lambda: {"bertedu/chapters/ch03_room/quiz.json"})
    passed = pytester.runpytest_inprocess("--few").parseoutcomes()["passed"]
    assert FEW + 9 <= passed <= FEW + 10  # all ten of room 03, one of which may be among the few


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("bertedu/chapters/ch01b_pytorch/quiz.json", ["ch01b_pytorch", "chapter_01b-1b.2-halves", "[1b.11]"]),
        ("tests/chapters/ch10_text_classification/variants.py", ["chapter_10-10.1", "[10.12]"]),
        ("notebooks/10_text_classification.ipynb", ["solutions-10_text_classification"]),
        ("bertedu/interview/drills/exercises/layer_norm.py", ["drill-layer-norm-detached"]),
    ],
)
def test_cases_are_known_by_the_names_of_their_chapters_and_drills(path, names):
    assert all(any(word in name for word in rooms([path])) for name in names)
    assert not any(word in "[chapter_02-2.1-twice]" for word in rooms([path]))
