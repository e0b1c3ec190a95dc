"""`bertedu interview bug`: programs with bugs of which only a symptom is given, repaired in a file of one's own."""

from pathlib import Path

import click

from bertedu.cli.saying import NAME, PATH, say
from bertedu.errors import UserError

NOT_PASSED = 1  # the exit code where a bug is left, or a repair broke something

EXAMPLES = """
\b
Examples:
  bertedu interview bug                                  all programs, with your best times
  bertedu interview bug serving --output serving.py      the program and its symptom; the clock starts
  bertedu interview bug serving --check serving.py       what is left; if all is repaired, the clock stops
  bertedu interview bug serving --check serving.py --hint   the same, and a hint for what is left
  bertedu interview bug serving --solution               every bug, why it shows this symptom, how to find it
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", type=NAME, required=False)
@click.option("--output", "new", type=PATH, help="Write the program into a new file, and start the clock.")
@click.option("--check", "repaired", type=PATH, help="Examine the repaired program in a file.")
@click.option("--hint", is_flag=True, help="Print the next hint; with --check, for a bug that is still there.")
@click.option("--solution", is_flag=True, help="Print all bugs; the clock stops, and no time counts.")
def bug(name: str | None, new: Path | None, repaired: Path | None, hint: bool, solution: bool) -> int:
    """List the programs with bugs, print the symptom of one, or find its bugs in a file against the clock."""
    options = {"--output": new, "--check": repaired, "--hint": hint, "--solution": solution}
    chosen = [option for option, given in options.items() if given]
    if len(chosen) > 1 and chosen != ["--check", "--hint"]:
        raise UserError(f"{chosen[0]} and {chosen[1]} exclude each other: give one of them.")
    if chosen and name is None:
        raise UserError(f"{chosen[0]} needs the name of a program: `bertedu interview bug` lists them.")
    from bertedu.interview.bugs import notebook
    from bertedu.interview.bugs.files import examine_apart
    from bertedu.interview.bugs.lab import read_lab
    from bertedu.interview.drills import clock

    if name is None:
        say(notebook.bugs())
        say("\nBegin one: bertedu interview bug NAME --output FILE.py")
        return 0
    lab, passed = read_lab(name), True
    if new:
        notebook.begin(lab, new)
        say(f"{notebook.symptom(lab)}\n\nThe program is in {new}. The clock is running: {lab.minutes} minutes.")
    elif repaired:
        seconds = clock.elapsed(notebook.key(lab))
        verdict = notebook.kept(lab, examine_apart(lab, repaired), seconds)
        say(repr(verdict))
        passed = verdict.passed
    elif solution:
        say(notebook.solution(name))
    elif not hint:
        say(f"{notebook.symptom(lab)}\n\nBegin: bertedu interview bug {name} --output FILE.py")
    if hint and not (repaired and passed):
        say(notebook.next_hint(lab, f"bertedu interview bug {' '.join([name, *check_of(repaired), '--hint'])}"))
    return 0 if passed else NOT_PASSED


def check_of(path: Path | None) -> list[str]:
    """The option --check as it was typed."""
    from bertedu.files import quoted

    return ["--check", quoted(path)] if path else []
