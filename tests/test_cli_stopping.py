"""How a command ends where something outside it does: Ctrl-C, SIGTERM, a reader or a folder that has gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import call, commands

STOPPED, WRONG = 130, 2
# Runs a command, and does something to it at the import with a given number, counted from the program's first line on.
AT_AN_IMPORT = """
import runpy, signal, sys

class Dying:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

imports, when = 0, int(sys.argv.pop(1))

def count(event, arguments):
    global imports
    if event == "import" and "bertedu" in sys.modules:
        imports += 1
        if imports == when:
            {what}

sys.addaudithook(count)
runpy.run_module("bertedu", run_name="__main__", alter_sys=True)
"""


def at_import(number: int, what: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", AT_AN_IMPORT.replace("{what}", what), str(number), *arguments]
    return subprocess.run(program, capture_output=True, text=True, timeout=120)


def program(*arguments: str, **options) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "bertedu", *arguments], timeout=120, stderr=subprocess.PIPE, **options)


def ended(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    """How a program ended; before its line an empty one may stand, after the ^C that a terminal shows."""
    return done.returncode, done.stdout, done.stderr.strip()


NAMES = ("SIGINT", "SIGTERM")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [1, 40])
def test_a_signal_while_the_commands_are_loaded_is_one_line(number, name):
    done = at_import(number, f"signal.raise_signal(signal.{name})", "--help")
    assert ended(done) == (STOPPED, "", "bertedu: stopped.")


# There are about 2,800 of them: click, torch and matplotlib.
@pytest.mark.slow(cases=3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", range(150, 2600, 50))
def test_a_signal_while_libraries_are_loaded_is_one_line(number, name):
    done = at_import(number, f"signal.raise_signal(signal.{name})", "attention", "the cat")
    assert ended(done) == (STOPPED, "", "bertedu: stopped.")


def test_a_signal_that_comes_where_nothing_can_be_raised_is_not_lost():
    done = at_import(400, "Dying()", "attention", "the cat")
    assert ended(done) == (STOPPED, "", "bertedu: stopped.")


def test_the_error_that_a_library_makes_of_a_signal_is_told_as_a_stop():
    what = "signal.signal(signal.SIGINT, (lambda heard: lambda *_: failing(heard))(signal.getsignal(signal.SIGINT)))"
    code = f"{what}\n            signal.raise_signal(signal.SIGINT)"
    failing = """
def failing(heard):
    try:
        heard(2, None)
    except KeyboardInterrupt:
        raise ImportError("initialization failed") from None
"""
    # At an import that nobody guards: many libraries pass over an ImportError of what they only might use.
    program = failing + AT_AN_IMPORT.replace("{what}", code).replace(
        "imports == when", "arguments[0] == 'bertedu.model'"
    )
    run = [sys.executable, "-c", program, "0", "attention", "the cat"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert ended(done) == (STOPPED, "", "bertedu: stopped.")


@pytest.mark.parametrize("path", [path for path, _ in commands()], ids=" ".join)
@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that somebody is in")
def test_a_folder_that_was_removed_under_a_command_is_told_in_one_sentence(path, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = call(*path)
    said = "bertedu: the folder that you are in has been removed: change to another one, and try again.\n"
    assert (done.exit_code, done.stdout, done.stderr) == (WRONG, "", said)
    monkeypatch.chdir(tmp_path)  # where it ends, somebody else needs a folder


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_full_disk_under_what_is_printed_is_told_in_one_sentence():
    with open("/dev/full", "wb") as full:
        done = program("--help", stdout=full)
    assert done.returncode == WRONG and b"No space left on device" in done.stderr and done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="pipes end in another way")
def test_a_reader_that_has_seen_enough_ends_a_command_without_a_word():
    reading, writing = os.pipe()
    os.close(reading)
    done = program("--help", stdout=writing)
    os.close(writing)
    assert done.stderr == b"" and done.returncode in (0, 1)


@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_is_no_traceback(closed):
    command = f"{sys.executable} -m bertedu interview mock {closed}"
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == STOPPED and done.stderr.strip() == ("" if closed == "2>&-" else "bertedu: stopped.")
