"""The set-up behind every make target, with a stand-in for Python that installs nothing and notes what it was asked."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
TESTS = ["pytest", "pytest"]  # the package, then the notebooks
PYTHON = """#!/bin/sh
case "$*" in
    "-m venv .venv") echo venv >> calls; mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
    *"pip install"*) echo pip >> calls; echo "$*" >> extras; [ ! -e offline ] ;;
    "-m pytest"*) echo pytest >> calls ;;
    "-c import sys"*) [ ! -e old ] ;;
esac
"""

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not shutil.which("make"), reason="the Makefile is for systems that have make"
)


@pytest.fixture
def folder(tmp_path):
    """A copy of the repository's set-up in a folder with a space in its name, as people have them."""
    folder = tmp_path / "my courses"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(REPOSITORY / name, folder)
    (folder / "python").write_text(PYTHON)
    (folder / "python").chmod(0o755)
    return folder


def make(folder: Path, *words: str, python: str = "PYTHON=./python", **changes: str) -> subprocess.CompletedProcess:
    outside = ("MAKE", "PYTHON", "ARGS", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(outside)} | changes
    command = [str(shutil.which("make")), *words, *python.split()]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def calls(folder: Path) -> list[str]:
    """What the stand-in was asked to do since the last look."""
    file = folder / "calls"
    lines = file.read_text().split() if file.exists() else []
    file.unlink(missing_ok=True)
    return lines


def test_a_second_test_run_installs_nothing(folder):
    assert make(folder, "test").returncode == 0
    assert calls(folder) == ["venv", "pip", *TESTS]
    os.utime(folder / "pyproject.toml")  # a newer date is no change
    assert make(folder, "test").returncode == 0
    assert calls(folder) == TESTS


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_new_pin_is_installed(folder, name):
    make(folder, "setup")
    calls(folder)
    with open(folder / name, "a") as file:
        file.write("# changed\n")
    assert make(folder, "setup").returncode == 0
    assert calls(folder) == ["pip"]  # what is there is kept
    make(folder, "setup")
    assert calls(folder) == []


def test_check_lints_and_runs_the_quick_tests_that_belong_to_what_differs_from_main(folder):
    make(folder, "setup")
    calls(folder)
    answer = make(folder, "check", "--dry-run")
    assert answer.returncode == 0 and "bin/ruff check" in answer.stdout and "bin/mypy" in answer.stdout
    assert answer.stdout.count("-m pytest") == 1 and "--nbval" not in answer.stdout
    assert '-m "not slow" --few $(.venv/bin/python tests/support/changed.py)' in answer.stdout
    named = make(folder, "check", "--dry-run", "ARGS=tests/test_files.py -k 'a or b'").stdout
    assert "-m \"not slow\" tests/test_files.py -k 'a or b'" in named and "--few" not in named


@pytest.mark.parametrize(("words", "runs"), [("", 2), ("--quiet", 2), ("--thorough", 2), ("-k attention", 1)])
def test_notebooks_are_run_where_no_tests_are_chosen(folder, words, runs):
    assert make(folder, "test", f"ARGS={words}").returncode == 0
    assert calls(folder).count("pytest") == runs


def test_an_interrupted_set_up_begins_again(folder):
    (folder / "offline").touch()
    answer = make(folder, "test")
    assert answer.returncode != 0 and calls(folder) == ["venv", "pip"]
    assert "The set-up did not finish" in answer.stdout
    (folder / ".venv" / "half-a-package").touch()
    (folder / "offline").unlink()
    assert make(folder, "test").returncode == 0
    assert calls(folder) == ["venv", "pip", *TESTS]
    assert not (folder / ".venv" / "half-a-package").exists()


def test_a_moved_folder_is_set_up_anew(folder):
    make(folder, "setup")
    calls(folder)
    moved = folder.rename(folder.with_name("elsewhere"))
    assert make(moved, "setup").returncode == 0
    assert calls(moved) == ["venv", "pip"]


def test_somebodys_own_virtual_environment_is_kept(folder):
    (folder / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(folder / "python", folder / ".venv" / "bin" / "python")
    (folder / ".venv" / "mine").touch()
    assert make(folder, "setup").returncode == 0
    assert calls(folder) == ["pip"] and (folder / ".venv" / "mine").exists()


def test_a_python_that_was_removed_is_set_up_anew(folder):
    make(folder, "setup")
    (folder / ".venv" / "bin" / "python").unlink()
    calls(folder)
    assert make(folder, "setup").returncode == 0
    assert calls(folder) == ["venv", "pip"]


def test_an_old_python_is_refused_before_the_set_up(folder):
    (folder / "old").touch()
    answer = make(folder, "setup")
    assert answer.returncode != 0 and "no Python 3.11 or newer: name another" in answer.stdout
    answer = make(folder, "setup", python="PYTHON=")
    assert answer.returncode != 0 and "No Python 3.11 or newer was found: install one" in answer.stdout
    assert calls(folder) == [] and not (folder / ".venv").exists()


@pytest.mark.parametrize("name", ["python3.11", "python3", "python"])
def test_a_machine_with_python_under_one_name_only_is_served(folder, tmp_path, name):
    programs = tmp_path / "bin"
    programs.mkdir()
    for program in ("sh", "cat", "cksum", "cp", "mkdir", "rm"):
        (programs / program).symlink_to(str(shutil.which(program)))
    assert "No Python 3.11 or newer was found" in make(folder, "setup", python="", PATH=str(programs)).stdout
    shutil.copy(folder / "python", programs / name)
    assert make(folder, "setup", python="", PATH=str(programs)).returncode == 0
    assert calls(folder) == ["venv", "pip"]


def test_make_alone_prints_the_help(folder):
    answer = make(folder)
    assert answer.returncode == 0 and calls(folder) == []
    assert {"make bert", "make test"} <= set(re.findall(r"make \w+", answer.stdout))


def installed(folder: Path) -> list[str]:
    """The extras of each installation, in order; those of the package alone are ''."""
    return [line.rpartition("-e .")[2] for line in (folder / "extras").read_text().splitlines()]


def test_make_bert_installs_neither_jupyter_nor_the_tests(folder):
    for name in ("bert", "lab", "bert", "test", "lab", "setup"):
        make(folder, name)
    assert installed(folder) == [
        "",
        "[course,production,jax]",
        "[course,production,jax,hub,tensorboard,authors,browser,site,test]",
    ]


def test_a_new_pin_keeps_what_was_installed_besides(folder):
    make(folder, "test")
    (folder / "constraints.txt").write_text("# changed\n")
    assert "has changed" in make(folder, "bert").stdout
    assert installed(folder) == 2 * ["[course,production,jax,hub,tensorboard,authors,browser,site,test]"]


def test_people_are_told_how_much_is_installed(folder):
    sizes = [re.search(r"will have ([\d.]+) GB", make(folder, name).stdout) for name in ("bert", "lab", "test", "test")]
    assert [float(size[1]) if size else None for size in sizes] == [1.6, 2.9, 3.2, None]


def test_packages_that_come_as_sources_are_built_by_an_old_pip_too(folder):
    """A pip before 23.1, as Debian 12 has it, runs their setup.py itself unless it is told otherwise, and fails."""
    make(folder, "lab")
    assert "--use-pep517" in (folder / "extras").read_text()
