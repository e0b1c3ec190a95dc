"""`bertedu course`: a teacher's own choice of chapters and exercises, in the teacher's order."""

from pathlib import Path

import click

from bertedu.cli.saying import PATH, say
from bertedu.errors import UserError

EXAMPLES = """
\b
Examples:
  bertedu course docs/teaching/course.toml --check         what does not fit, and where
  bertedu course docs/teaching/course.toml --output my-course  write the notebooks
\b
In course.toml:
  title = "BERT in six weeks"
  [[chapter]]
  number = 3
  without = ["3.5"]               or: only = ["3.2", "3.4"]
  date = 2026-10-12               title, about, minutes, links: see docs/teaching/own_course.md
  [[chapter]]
  notebook = "our_data.py"        a notebook of yours, beside course.toml
\b
In the folder: the learner's notebooks, solutions/, and README.md with the map. Nothing is executed.
"""


@click.command(epilog=EXAMPLES)
@click.argument("file", type=PATH, metavar="COURSE.TOML")
@click.option("--output", "to", type=PATH, help="The folder to make.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing, only say what does not fit.")
def course(file: Path, to: Path | None, only_check: bool) -> None:
    """Write a course of your own: chosen chapters and exercises, in your order, with your notebooks among them."""
    from bertedu.extras import needs_extra

    if (to is None) != only_check:
        raise UserError("give either --output FOLDER, to write the course, or --check, to look at it only.")
    with needs_extra("course,authors"):
        from bertedu.classroom.course_making import make_course

    made = make_course(file, to)
    for warning in made.warnings:
        say(f"! {warning}")
    count, warnings = len(made.learner), len(made.warnings)
    say(f"{f'Wrote {to}: ' if to else ''}notebooks: {count}, warnings: {warnings}.")
