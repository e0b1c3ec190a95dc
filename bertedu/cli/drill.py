"""`bertedu interview drill`: whiteboard tasks against the clock, written in a file of one's own."""

from pathlib import Path

import click

from bertedu.cli.saying import NAME, PATH, say
from bertedu.errors import UserError

NOT_PASSED = 1  # the exit code where an answer does not pass

EXAMPLES = """
\b
Examples:
  bertedu interview drill                                       all drills, with your best times
  bertedu interview drill masked-attention --output answer.py   the blank file; the clock starts
  bertedu interview drill masked-attention --check answer.py    examine it; if it is right, the clock stops
  bertedu interview drill masked-attention --hint               the next hint
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", type=NAME, required=False)
@click.option("--output", "blank", type=PATH, help="Write the file to fill in, and start the clock.")
@click.option("--check", "answer", type=PATH, help="Examine the answer in a file.")
@click.option("--hint", is_flag=True, help="Print the next hint.")
@click.option("--solution", is_flag=True, help="Print a solution; the clock stops, and no time counts.")
def drill(name: str | None, blank: Path | None, answer: Path | None, hint: bool, solution: bool) -> int:
    """List the whiteboard drills, print the task of one, or practise it in a file against the clock."""
    options = {"--output": blank, "--check": answer, "--hint": hint, "--solution": solution}
    chosen = [option for option, given in options.items() if given]
    if len(chosen) > 1:
        raise UserError(f"{chosen[0]} and {chosen[1]} exclude each other: give one of them.")
    if chosen and name is None:
        raise UserError(f"{chosen[0]} needs the name of a drill: `bertedu interview drill` lists them.")
    from bertedu.interview.drills import files, notebook
    from bertedu.interview.drills.register import find

    if name is None:
        say(repr(notebook.drills()))
        say("\nBegin one: bertedu interview drill NAME --output FILE.py")
    elif blank:
        found = files.write_blank(name, blank)
        say(f"{blank} has the task and the blank function. The clock is running: {found.minutes} minutes.")
    elif answer:
        verdict = files.examine_file(name, answer)
        say(repr(verdict))
        return 0 if verdict.passed else NOT_PASSED
    elif hint:
        say(notebook.next_hint(find(name), f"bertedu interview drill {name} --hint"))
    elif solution:
        say(notebook.solution(name))
    else:
        found = find(name)
        say(f"{found.title} · {found.minutes} minutes\n\n{found.task.strip()}")
        say(f"\nBegin: bertedu interview drill {name} --output FILE.py")
    return 0
