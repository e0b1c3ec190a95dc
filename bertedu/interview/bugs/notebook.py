"""Find the bug in a notebook: `bug("serving")` writes the program into a file, `found("serving")` examines it.

The clock is that of the drills: it starts with the file and stops when the last bug is gone.
"""

import os
from dataclasses import replace
from pathlib import Path
from textwrap import fill

from bertedu.course.checking import Text
from bertedu.course.verdict import Verdict
from bertedu.errors import UserError
from bertedu.interview.bugs.examining import Findings, examine
from bertedu.interview.bugs.files import FILE, source_of, write_program
from bertedu.interview.bugs.lab import Bug, Lab, read_lab, read_labs
from bertedu.interview.drills import clock

WIDTH = 100
left_in: dict[str, tuple[str, ...]] = {}  # the bugs in the last program that was examined, by lab


def bugs() -> Text:
    """All programs with bugs: their names, levels, the minutes that an interview gives, and your best times."""
    times = clock.all_times()
    rows = [("name", "level", "time", "your best", "what was seen")]
    for lab in read_labs():
        best = times[key(lab)].best if key(lab) in times else None
        rows.append((lab.name, lab.level, f"{lab.minutes} min", clock.in_words(best) if best else "", lab.title))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return Text("\n".join(lines))


def bug(name: str) -> Text:
    """Show the symptom of a program, and put the program into a file of the present folder; the clock starts.

    A file that is there already stays as it is. Raises UserError for a name that `bugs()` does not list.
    """
    lab = read_lab(name)
    path = Path(FILE.format(lab.module))
    if os.path.lexists(path):
        told = f"{path} is there already, and stays as it is: delete it to begin again."
    else:
        begin(lab, path)
        told = f"The program is in {path}, and the clock is running."
    return Text(f'{symptom(lab)}\n\n{told} Repair the file, then: found("{name}")\nHelp: hint("{name}")')


def found(name: str, file: str | Path = "") -> Verdict:
    """Examine the repaired program: the file that `bug` wrote, or another one.

    The result shows itself; `.passed` says whether all bugs are gone and nothing else broke.
    """
    lab = read_lab(name)
    path = Path(file or FILE.format(lab.module))
    try:
        source, seconds = source_of(lab, path), clock.elapsed(key(lab))
    except UserError as error:
        return Verdict(lab.name, "not attempted yet", (str(error),))
    verdict = kept(lab, examine(lab, source, str(path)), seconds)
    return verdict if verdict.passed else replace(verdict, lines=(*verdict.lines, f'Next hint: hint("{name}")'))


def hint(name: str) -> Text:
    """The next hint: for a bug that your last program still has, and nearer each time."""
    return Text(next_hint(read_lab(name), f'hint("{name}")'))


def solution(name: str) -> Text:
    """All bugs of a program: where, why they show this symptom, how to find them. The clock stops; no time counts."""
    lab = read_lab(name)
    clock.stop(key(lab))
    return Text(all_bugs(lab))


# What the command line does, too ------------------------------------------------------------------------------------


def key(lab: Lab, one: Bug | None = None) -> str:
    """The name under which the drills' file of times keeps a lab, or the hints that were given for one of its bugs."""
    return f"bug-{lab.name}" if one is None else f"bug-{lab.name}-{one.id}"


def begin(lab: Lab, path: Path) -> None:
    """Write the broken program into a new file, and start the clock; no hint has been given."""
    write_program(lab, path)
    left_in.pop(lab.name, None)
    for one in lab.bugs:
        if clock.times_of(key(lab, one)).hints:
            clock.keep(key(lab, one), clock.Times())
    clock.start(key(lab))


def kept(lab: Lab, findings: Findings, seconds: float | None) -> Verdict:
    """The verdict with a line about the time, which is kept if all is repaired."""
    left_in[lab.name] = findings.left
    line = clock.told(key(lab), lab.minutes, findings.verdict.passed, seconds)
    return replace(findings.verdict, lines=(*findings.verdict.lines, *([line] if line else [])))


def next_hint(lab: Lab, more: str) -> str:
    """The text of the next hint; `more` is how to ask for one more."""
    ids = left_in.get(lab.name, tuple(one.id for one in lab.bugs))
    left = [one for one in lab.bugs if one.id in ids]
    if not left:
        return "I see no bug of the program any more: what is wrong came with a repair. Compare it with the original."
    waiting = [one for one in left if clock.times_of(key(lab, one)).hints < len(one.hints)]
    if not waiting:
        texts = "\n".join(fill(text, WIDTH) for one in left for text in one.hints)
        return f"All hints for what is left of {lab.name}:\n{texts}"
    given = clock.times_of(key(lab, waiting[0])).hints + 1
    for counted in (key(lab), key(lab, waiting[0])):
        clock.count_hint(counted)
    after = (
        f"One more: {more}" if len(waiting) > 1 or given < len(waiting[0].hints) else f"The last hint of {lab.name}."
    )
    return f"{fill(waiting[0].hints[given - 1], WIDTH)}\n{after}"


def symptom(lab: Lab) -> str:
    """The head of a lab, and what the colleague has seen."""
    told = fill(" ".join(lab.symptom.split()), WIDTH)
    return f"{lab.title} · {lab.name} · {lab.level} · {lab.minutes} minutes\n\n{told}"


def all_bugs(lab: Lab) -> str:
    """The bugs of a lab with their reasons."""
    parts = [f"{lab.title}: {len(lab.bugs)} {'bug' if len(lab.bugs) == 1 else 'bugs'}. Lines are those of the program."]
    for one in lab.bugs:
        told = "\n".join(fill(text, WIDTH) for text in (one.what, one.why, f"How to find it: {one.find}"))
        repair = "\n".join(f"    {line}".rstrip() for line in one.right.splitlines())
        parts.append(f"Line {lab.line_of(one)}. {told}\nOne repair:\n{repair}")
    return "\n\n".join(parts)
