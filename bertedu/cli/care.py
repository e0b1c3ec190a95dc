"""`bertedu doctor` and `bertedu build`: the machine, and the course's notebooks."""

import sys

import click

from bertedu.cli.saying import say


@click.command()
def doctor() -> None:
    """Say what this machine has and how fast a BERT will learn on it.

    It measures for about four seconds, writes nothing and does not use the network.

    \b
    Example:
      bertedu doctor
    """
    from bertedu.doctor import examine, warnings_for

    rows = examine()
    width = max(len(name) for _, name, _ in rows)
    before = ""
    for group, name, found in rows:
        if group != before:
            say(f"{group}")
        say(f"  {name:{width}}  {found}")
        before = group
    for sentence in warnings_for():
        say(f"! {sentence}")


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
