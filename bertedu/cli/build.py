"""`bertedu build`: the notebooks of the course."""

import sys

import click

from bertedu.cli.saying import say


@click.command()
@click.argument("chapters", nargs=-1, metavar="[NN]...")
@click.option("--check", is_flag=True, help="Only say what is out of date; exit code 1 if anything is.")
@click.option("--minutes", is_flag=True, help="Only count what a reader meets, and the minutes that it takes.")
def build(chapters: tuple[str, ...], check: bool, minutes: bool) -> None:
    """Make, execute and store the course's notebooks, of all chapters or of those given, where something changed."""
    from bertedu.course.building.build import main as run_build  # here, since it needs the authors' extra
    from bertedu.course.building.minutes import table

    if minutes:
        say(table(chapters))
    else:
        sys.exit(run_build(chapters, check))
