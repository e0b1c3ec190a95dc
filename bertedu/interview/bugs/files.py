"""Programs with bugs in files of one's own: writing them, reading them, and examining one in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bertedu.course.verdict import Verdict
from bertedu.errors import UserError
from bertedu.files import read_json, read_text, write_text
from bertedu.interview.bugs.examining import Findings
from bertedu.interview.bugs.lab import Lab

FILE = "bug_{}.py"  # in a notebook's folder
JUDGING = "bertedu.interview.bugs.judging"
SECONDS = 60.0  # on the clock, for a program that no alarm could end
MOST_BYTES = 1_000_000  # of a program
ROOT = Path(__file__).resolve().parents[3]


def write_program(lab: Lab, path: Path) -> None:
    """Put the broken program into a new file. Raises UserError where there is one: somebody may have worked in it."""
    if os.path.lexists(path):
        raise UserError(f"{path} is there already and may hold your work: choose another name, or delete it.")
    write_text(path, lab.broken)


def source_of(lab: Lab, path: Path) -> str:
    """The program in a file. Raises UserError for one that cannot be read, and for one that nobody has changed."""
    if not os.path.lexists(path):
        raise UserError(f"{path} is not there: the program is written into it before it can be repaired.")
    source = read_text(path, MOST_BYTES)
    if source.replace("\r\n", "\n").strip() == lab.broken.strip():
        raise UserError(f"{path} is still the program as you got it: repair something first.")
    return source


def examine_apart(lab: Lab, path: Path) -> Findings:
    """Examine a file in a process of its own, so that an endless loop or `os._exit()` in it ends nothing else."""
    source_of(lab, path)
    everything = tuple(bug.id for bug in lab.bugs)
    with TemporaryDirectory() as folder:
        told = Path(folder) / "findings.json"
        # -P: a file of the learner's beside the program, such as random.py, does not hide the library's
        command = [sys.executable, "-P", "-m", JUDGING, lab.name, str(path), str(told)]
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        quiet = subprocess.DEVNULL
        try:
            done = subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, env=environment, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            slow = f"It was still running after {SECONDS:g} seconds, so I stopped it: is there a loop that never ends?"
            return Findings(Verdict(lab.name, "not yet", (slow,)), everything)
        if not told.exists():
            ended = f"Your program ended Python (exit code {done.returncode}) before it could be examined."
            advice = "Does it call `os._exit()`, or need more memory than there is?"
            return Findings(Verdict(lab.name, "not yet", (ended, advice)), everything)
        found = read_json(told)
    return Findings(Verdict(lab.name, found["status"], tuple(found["lines"])), tuple(found["left"]))
