"""Drills in files of one's own, for those who practise in an editor: the blank file, and its examination.

The file is examined in a process of its own, so that an endless loop or an `exit()` in it ends nothing else.
"""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bertedu.course.verdict import Verdict
from bertedu.errors import UserError
from bertedu.files import quoted, read_json, read_text, write_text
from bertedu.interview.drills import clock
from bertedu.interview.drills.drill import Drill
from bertedu.interview.drills.register import find

SECONDS = 180.0  # on the clock, with the time to load torch on a busy machine: for a file that waits without end
ENDLESS = "It was still running after a long time, so I stopped it: is there a loop that never ends?"
ROOT = Path(__file__).resolve().parents[3]


def write_blank(name: str, path: Path) -> Drill:
    """Write the file to fill in, with the task as a comment, and start the clock.

    Raises UserError where the file is there already: it may hold an answer.
    """
    drill = find(name)
    if os.path.lexists(path):
        raise UserError(f"{path} is there already and may hold an answer: choose another name.")
    command = f"bertedu interview drill {name}"
    head = [
        f"{drill.title} · {drill.minutes} minutes",
        "",
        *drill.task.strip().splitlines(),
        "",
        f"Examine it:   {command} --check {quoted(path)}",
        f"Get a hint:   {command} --hint",
    ]
    comment = "\n".join(f"# {line}".rstrip() for line in head)
    write_text(path, f"{comment}\n\n{drill.stub.strip()}\n")
    clock.start(name)
    return drill


def examine_file(name: str, path: Path) -> Verdict:
    """Examine the answer in a file, and keep the time if it is right. Raises UserError for a file that is no text."""
    drill, seconds = find(name), clock.elapsed(name)
    read_text(path)
    verdict = in_a_process(name, path)
    line = clock.told(name, drill.minutes, verdict.passed, seconds)
    if line is None and verdict.passed:
        line = (
            f"No time is kept, because the clock was not running: `bertedu interview drill {name} --to FILE` starts it."
        )
    lines = (*(for_a_file(name, said) for said in verdict.lines), *([line] if line else []))
    return replace(verdict, lines=lines)


def in_a_process(name: str, path: Path) -> Verdict:
    """The verdict of a process that runs the file and examines its answer."""
    with TemporaryDirectory() as folder:
        told = Path(folder) / "verdict.json"
        # -P: a file of the learner's beside the answer, such as random.py, does not hide the library's
        command = [sys.executable, "-P", "-m", "bertedu.interview.drills.judging", name, str(path), str(told)]
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, env=environment, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Verdict(name, "not yet", (ENDLESS,))
        if not told.exists():
            return Verdict(name, "not yet", without_verdict(path, done.returncode))
        answer = read_json(told)
    return Verdict(name, answer["status"], tuple(answer["lines"]))


def without_verdict(path: Path, code: int) -> tuple[str, ...]:
    """What to say where the process ended before it told a verdict."""
    if code == -getattr(signal, "SIGXCPU", 0) != 0:
        return (ENDLESS,)
    advice = "Does the file need more memory than there is?" if code < 0 else "Does the file call `os._exit()`?"
    return (f"But Python ended (exit code {code}) before the answer in {path.name} was examined.", advice)


def for_a_file(name: str, line: str) -> str:
    """A sentence about cells of a notebook as one about a file."""
    for cell, file in (
        (f'hint("{name}")', f"bertedu interview drill {name} --hint"),
        ("Write your answer above and run the cell again.", "Write your answer into the file and examine it again."),
        ("run the cell again", "examine the file again"),
    ):
        line = line.replace(cell, file)
    return line
