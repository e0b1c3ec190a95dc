"""The hidden tests of a lab, run on a program that somebody repaired.

bertedu/interview/bugs/NAME.py has one function for each bug, of the name of its id, and `sound`, which finds repairs
that break something else. Each takes the program and returns None, or a sentence on the symptom that it still sees.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from bertedu.course.guarding import ORIGINALS, within
from bertedu.course.settings import own_settings
from bertedu.course.verdict import Ended, StillRunning, Verdict
from bertedu.interview.bugs.lab import Lab
from bertedu.interview.bugs.program import Program

SECONDS = 10.0  # of work for all tests of one program
Test = Callable[[Program], str | None]


@dataclass(frozen=True)
class Findings:
    """What is left of a lab's bugs: their ids, in the order of the lab, and what to say about it all."""

    verdict: Verdict
    left: tuple[str, ...] = ()


def examine(lab: Lab, source: str, file: str = "<your program>") -> Findings:
    """Run all tests of a lab on a program; whatever happens becomes a verdict."""
    with ORIGINALS.restored():  # what a notebook has replaced by now is not taken for an original
        tests = import_module(f"bertedu.interview.bugs.{lab.module}")
    limit = sys.getrecursionlimit()
    try:
        with ORIGINALS.restored(), own_settings():
            said = within(SECONDS, lambda: run_tests(lab, tests, source, file))
    except StillRunning:
        return stopped(lab, f"It was still running after {SECONDS:g} seconds, so I stopped it: does a loop never end?")
    except Ended as end:
        return stopped(lab, *end.lines)
    finally:
        sys.setrecursionlimit(limit)
    sentences = {bug.id: said[bug.id] for bug in lab.bugs if said[bug.id]}
    gone = len(lab.bugs) - len(sentences)
    if not sentences and not said["sound"]:
        return Findings(Verdict(lab.name, "yes", solved(lab)))
    lines = [f"{gone} of {len(lab.bugs)} {'bug is' if len(lab.bugs) == 1 else 'bugs are'} gone."]
    if sentences:
        lines.append(f"What I still see: {next(iter(sentences.values()))}")
    if said["sound"]:
        lines.append(f"And a repair broke something: {said['sound']}")
    return Findings(Verdict(lab.name, "not yet" if sentences else "almost", tuple(lines)), tuple(sentences))


def run_tests(lab: Lab, tests: object, source: str, file: str) -> dict[str, str | None]:
    """What each test says, by its name. A test that trips over what the program gave ends it all with a sentence."""
    program = Program(source, file)
    said: dict[str, str | None] = {}
    for name in ("sound", *(bug.id for bug in lab.bugs)):
        test: Test = getattr(tests, name)
        try:
            said[name] = test(program)
        except (Ended, StillRunning, KeyboardInterrupt):
            raise
        except Exception as error:  # a repaired program can return anything, and a test cannot foresee everything
            raise Ended(
                "not yet",
                "I cannot examine what your program's functions return: its kind or size is not what it was.",
                f"Keep what they take and what they return. ({type(error).__name__}: {error})",
            ) from error
    return said


def stopped(lab: Lab, *lines: str) -> Findings:
    """The tests did not come to their end."""
    return Findings(Verdict(lab.name, "not yet", lines), tuple(bug.id for bug in lab.bugs))


def solved(lab: Lab) -> tuple[str, ...]:
    """What to say to a program without bugs: each bug in a sentence."""
    found = tuple(f"Line {lab.line_of(bug)}: {bug.what}" for bug in lab.bugs)
    return ("The symptom is gone, and nothing else broke. In the program as you got it:", *found)
