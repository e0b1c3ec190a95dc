"""`bertedu build`: the notebooks of the course."""

import sys
from pathlib import Path

import click

from bertedu.cli.saying import PATH, say


@click.command()
@click.argument("chapters", nargs=-1, metavar="[NN]...")
@click.option("--check", is_flag=True, help="Only say what is out of date; exit code 1 if anything is.")
@click.option("--minutes", is_flag=True, help="Only count what a reader meets, and the minutes that it takes.")
@click.option("--colab", type=PATH, metavar="FOLDER", help="Only write notebooks for Google Colab there.")
def build(chapters: tuple[str, ...], check: bool, minutes: bool, colab: Path | None) -> None:
    """Make, execute and store the course's notebooks, of all chapters or of those given, where something changed."""
    from bertedu.classroom.overview import refresh
    from bertedu.course.building.build import main as run_build  # here, since it needs the authors' extra
    from bertedu.course.building.colab import write_for_colab
    from bertedu.course.building.minutes import table
    from bertedu.course.building.places import Places

    if colab:
        say(f"{len(write_for_colab(colab, chapters))} notebooks for Google Colab are in {colab}.")
    elif minutes:
        say(table(chapters))
    else:
        code = run_build(chapters, check)
        if not check:
            refresh(Places().root / "docs" / "teaching" / "README.md", Places().chapters)
        sys.exit(code)
