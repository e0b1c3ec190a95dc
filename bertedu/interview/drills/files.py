"""Drills in files of one's own, for those who practise in an editor: the blank file, and its examination.

The file is examined in a process of its own, so that an endless loop or an `exit()` in it ends nothing else.
"""

import os
from dataclasses import replace
from pathlib import Path

from bertedu.course.verdict import Verdict
from bertedu.errors import UserError
from bertedu.files import quoted, read_text, write_text
from bertedu.interview.drills import clock
from bertedu.interview.drills.drill import Drill
from bertedu.interview.drills.register import find
from bertedu.interview.own_process import answer_of

JUDGING = "bertedu.interview.drills.judging"


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
    answer = answer_of(JUDGING, name, path)
    failed = isinstance(answer, tuple)  # the lines that say why nothing could be examined
    verdict = Verdict(name, "not yet", answer) if failed else Verdict(name, answer["status"], tuple(answer["lines"]))
    line = clock.told(name, drill.minutes, verdict.passed, seconds)
    if line is None and verdict.passed:
        line = (
            "No time is kept, because the clock was not running: "
            f"`bertedu interview drill {name} --output FILE` starts it."
        )
    lines = (*(for_a_file(name, said) for said in verdict.lines), *([line] if line else []))
    return replace(verdict, lines=lines)


def for_a_file(name: str, line: str) -> str:
    """A sentence about cells of a notebook as one about a file."""
    for cell, file in (
        (f'hint("{name}")', f"bertedu interview drill {name} --hint"),
        ("Write your answer above and run the cell again.", "Write your answer into the file and examine it again."),
        ("run the cell again", "examine the file again"),
    ):
        line = line.replace(cell, file)
    return line
