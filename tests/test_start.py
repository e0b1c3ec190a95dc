"""start.py: the commands of the Makefile for every system, from Python alone. Nothing is installed here."""

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from support.repository import PROJECT, REPOSITORY, read

SPEC = spec_from_file_location("start", REPOSITORY / "start.py")
start = module_from_spec(SPEC)
SPEC.loader.exec_module(start)
TARGETS = ("bert", "playground", "lab", "test")
LINUX, MACOS, WINDOWS = "/srv/my course", "/Volumes/disk/my course", r"D:\my course"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A course whose commands are noted and not run; making the environment puts its interpreter there."""
    for name in start.PINS:
        (tmp_path / name).write_text(read(name), encoding="utf-8")
    monkeypatch.setattr(start, "ROOT", tmp_path)
    return tmp_path


@pytest.fixture
def calls(folder, monkeypatch) -> list[list[str]]:
    noted: list[list[str]] = []

    def note(command, cwd, env, check):
        noted.append(command)
        python = start.python_in(folder / ".venv", start.os.name == "nt")
        if "venv" in command:
            python.parent.mkdir(parents=True)
            python.touch()
        return subprocess.CompletedProcess(command, int("pip" in command and (folder / "offline").exists()))

    monkeypatch.setattr(start.subprocess, "run", note)
    return noted


def kinds(calls: list[list[str]]) -> list[str]:
    """Which module each command runs, since the last look."""
    found = [command[2] for command in calls]
    calls.clear()
    return found


def recipe(target: str) -> str:
    """The commands of a target of the Makefile, with its variables filled in."""
    text = read("Makefile").replace("\\\n\t", "")
    for name in ("TESTS", "NBVAL"):
        (value,) = re.findall(rf"^{name} = (.+)$", text, flags=re.MULTILINE)
        text = text.replace(f"$({name})", value)
    lines = re.findall(rf"^{target}: environment\n((?:\t.+\n)+)", text, flags=re.MULTILINE)[0]
    return lines.replace("$(MINUTES)", "5").replace(".venv/bin/bertedu", ".venv/bin/python -m bertedu")


@pytest.mark.parametrize("target", TARGETS)
def test_each_word_runs_the_commands_of_the_makefile(target):
    for command in start.commands(target, PurePosixPath(".venv/bin/python"), []):
        made = recipe(target)
        first = re.sub(r"\$\(firstword .*\)", "notebooks/00_start_here.ipynb ", made) if target == "lab" else made
        assert " ".join(command) in " ".join(first.split())


def test_each_word_installs_the_extras_of_the_makefile():
    makefile = read("Makefile")
    extras = dict(re.findall(r"^EXTRAS_(\d) =(.*)$", makefile, flags=re.MULTILINE))
    parts = {word: part for words, part in re.findall(r"^([a-z ]+): PARTS = (\d)$", makefile, flags=re.MULTILINE)
             for word in words.split()}  # fmt: skip
    for target in TARGETS:
        assert start.EXTRAS[target] == extras[parts.get(target, "3")].strip()
    assert set(start.EVERYTHING.strip("[]").split(",")) == set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize(
    ("environment", "windows", "python"),
    [
        (PurePosixPath(LINUX, ".venv"), False, f"{LINUX}/.venv/bin/python"),
        (PurePosixPath(MACOS, ".venv"), False, f"{MACOS}/.venv/bin/python"),
        (PureWindowsPath(WINDOWS, ".venv"), True, rf"{WINDOWS}\.venv\Scripts\python.exe"),
    ],
    ids=["linux", "macos", "windows"],
)
def test_each_system_has_its_interpreter_in_every_command(environment, windows, python):
    there = start.python_in(environment, windows)
    make, install = start.setup_commands("lab", there, there=False)
    assert make == [sys.executable, "-m", "venv", "--clear", ".venv"]
    assert "--use-pep517" in install  # a pip before 23.1 cannot build what comes as sources only
    assert install[0] == python and install[-4:] == ["-c", "constraints.txt", "-e", f".{start.NOTEBOOKS}"]
    for target in TARGETS:
        assert all(command[:2] == [python, "-m"] for command in start.commands(target, there, []))


def test_a_second_call_installs_nothing_and_one_that_needs_more_does(folder, calls):
    start.main(["bert"])
    assert kinds(calls) == ["venv", "pip", "bertedu"]
    start.main(["playground"])
    assert kinds(calls) == ["bertedu"]
    start.main(["lab"])
    assert kinds(calls) == ["pip", "jupyterlab"]
    start.main(["bert"])
    assert kinds(calls) == ["bertedu"]


def test_a_changed_pin_is_installed(folder, calls):
    start.main(["bert"])
    calls.clear()
    with open(folder / "constraints.txt", "a") as file:
        file.write("# changed\n")
    start.main(["bert"])
    assert kinds(calls) == ["pip", "bertedu"]


def test_an_installation_that_failed_is_tried_again(folder, calls):
    start.main(["bert"])
    (folder / "offline").touch()
    with pytest.raises(SystemExit) as ended:
        start.main(["lab"])
    assert ended.value.code == 1
    (folder / "offline").unlink()
    calls.clear()
    start.main(["bert"])
    assert kinds(calls) == ["pip", "bertedu"], "half of the packages may have been replaced"


def test_words_after_the_target_are_passed_on_and_choose_the_tests(calls):
    start.main(["test", "-k", "attention"])
    assert calls[-1][-2:] == ["-k", "attention"] and kinds(calls) == ["venv", "pip", "pytest"]
    start.main(["test", "--thorough"])
    assert kinds(calls) == ["pytest", "pytest"]


def test_a_dry_run_prints_the_commands_and_changes_nothing(folder, calls, capsys):
    start.main(["lab", "--dry-run"])
    told = capsys.readouterr().out
    assert not calls and not (folder / ".venv").exists()
    assert told.count("\n+ ") == 3 and "-m jupyterlab" in told and "--dry-run" not in told


def test_an_old_python_is_told_so(monkeypatch):
    monkeypatch.setattr(start.sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"This is Python 3\.9: run start\.py with 3\.11 or newer"):
        start.main(["lab"])


@pytest.mark.parametrize(("words", "code"), [([], 0), (["--help"], 0), (["fly"], 2)])
def test_without_a_known_word_the_words_are_told(words, code, capsys):
    with pytest.raises(SystemExit) as ended:
        start.main(words)
    assert ended.value.code == code and "python start.py lab" in capsys.readouterr().out


def test_a_fresh_interpreter_without_any_package_runs_it():
    command = [sys.executable, "-I", "-S", str(REPOSITORY / "start.py"), "lab", "--dry-run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "00_start_here.ipynb" in done.stdout, done.stderr
