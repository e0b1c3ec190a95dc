"""`bertedu assignment`: chapters as an assignment, for an LMS, for nbgrader and for `bertedu grade`."""

from pathlib import Path

import click

from bertedu.cli.saying import NUMBER, PATH, say

EXAMPLES = """
\b
Examples:
  bertedu assignment 3 --output week-3                      a chapter; points by difficulty, 1 to 4
  bertedu assignment 3 6 --output week-4 --only-exercises   the exercises of two chapters without the chapters
  bertedu assignment 3 --output week-3 --points 3.2=4 --points 3.5=6 --due "2026-12-01 18:00"
  bertedu assignment 3 10 --output exam --variant "a secret sentence"
\b
In the folder:
  release/            the notebooks as learners get them
  lms/                a zip file for a learning platform, and the folder that it was made from
  nbgrader/           a course folder: nbgrader generate_assignment, release_assignment, autograde, formgrader
  assignment.json     what was assigned, for bertedu grade
"""


@click.command(epilog=EXAMPLES)
@click.argument("chapters", nargs=-1, required=True, metavar="NN...")
@click.option("--output", "to", type=PATH, required=True, help="The folder to make.")
@click.option("--only-exercises", is_flag=True, help="The exercises with the code that they need, not the chapter.")
@click.option("--points", multiple=True, metavar="NUMBER=POINTS", help="Of one exercise; can be given several times.")
@click.option("--due", help="2026-12-01 (the end of that day) or '2026-12-01 18:00', in this machine's time zone.")
@click.option("--variant", metavar="SEED", help="Variants of the exercises, drawn from your secret seed.")
@click.option("--almost", type=NUMBER, default=0.0, show_default=True, help="Share of the points for “almost”.")
def assignment(
    chapters: tuple[str, ...],
    to: Path,
    only_exercises: bool,
    points: tuple[str, ...],
    due: str | None,
    variant: str | None,
    almost: float,
) -> None:
    """Make an assignment of chapters: notebooks without solutions, and what grades them."""
    from bertedu.extras import needs_extra

    with needs_extra("course,authors"):
        from bertedu.classroom.assignment import make_assignment

    made = make_assignment(chapters, to, only_exercises, points, due, almost, variant=variant)
    exercises, notebooks = len(made.exercises), len(made.notebooks)
    say(f"Wrote {to}: exercises: {exercises}, notebooks: {notebooks}, points: {made.points:g}.")
