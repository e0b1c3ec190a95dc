"""Programs with bugs in files of one's own: writing them, reading them, and examining one in a process of its own."""

import os
from pathlib import Path

from bertedu.course.verdict import Verdict
from bertedu.errors import UserError
from bertedu.files import quoted, read_text, write_text
from bertedu.interview.bugs.examining import Findings, stopped
from bertedu.interview.bugs.lab import Lab
from bertedu.interview.own_process import answer_of

FILE = "bug_{}.py"  # in a notebook's folder
JUDGING = "bertedu.interview.bugs.judging"


def write_program(lab: Lab, path: Path) -> None:
    """Put the broken program into a new file. Raises UserError where there is one: somebody may have worked in it."""
    if os.path.lexists(path):
        raise UserError(f"{path} is there already and may hold your work: choose another name, or delete it.")
    write_text(path, lab.broken)


def source_of(lab: Lab, path: Path) -> str:
    """The program in a file. Raises UserError for one that cannot be read, and for one that nobody has changed."""
    if not os.path.lexists(path):
        begin = f"bertedu interview bug {lab.name} --output {quoted(path)}"
        raise UserError(
            f'{path} is not there: get the program with bug("{lab.name}") in a notebook, or with `{begin}`.'
        )
    source = read_text(path)
    if source.replace("\r\n", "\n").strip() == lab.broken.strip():
        raise UserError(f"{path} is still the program as you got it: repair something first.")
    return source


def examine_apart(lab: Lab, path: Path) -> Findings:
    """Examine a file in a process of its own, so that an endless loop or `os._exit()` in it ends nothing else."""
    source_of(lab, path)
    told = answer_of(JUDGING, lab.name, path)
    if isinstance(told, tuple):
        return stopped(lab, *told)
    return Findings(Verdict(lab.name, told["status"], tuple(told["lines"])), tuple(told["left"]))
