"""`bertedu slides` and `bertedu handout`: a chapter for the screen of a classroom, and on paper."""

from pathlib import Path

import click

from bertedu.cli.saying import PATH, say


@click.command()
@click.argument("chapters", nargs=-1, metavar="[NN|all]...")
@click.option("--output", "folder", type=PATH, required=True, help="The folder that the decks are written into.")
def slides(chapters: tuple[str, ...], folder: Path) -> None:
    """Write a deck of slides for each chapter given, or for all: one HTML file each, which runs offline.

    Open it in a browser: the arrow keys turn the pages, `s` opens the speaker notes, `?` lists all keys.

    \b
    Examples:
      bertedu slides 3 --output decks       one chapter
      bertedu slides 3 4 5 --output decks   three
      bertedu slides all --output decks     every chapter
    """
    from bertedu.extras import needs_extra

    with needs_extra("course,authors"):
        from bertedu.classroom.slides import write_slides

    for path, count in write_slides(chapters, folder):
        say(f"{path}: {count} slides")
    say("Open one in a browser: the arrow keys turn the pages, s opens the speaker notes, ? lists all keys.")


@click.command()
@click.argument("chapters", nargs=-1, metavar="[NN|all]...")
@click.option("--output", "folder", type=PATH, required=True, help="The folder that the handouts are written into.")
@click.option("--solutions", is_flag=True, help="With the exercises solved and explained.")
@click.option("--pdf", is_flag=True, help="Also as PDF, printed by the Chromium, Chrome or Edge of this machine.")
def handout(chapters: tuple[str, ...], folder: Path, solutions: bool, pdf: bool) -> None:
    """Write a handout for each chapter given, or for all: prose, code, outputs and figures, for printing.

    \b
    Examples:
      bertedu handout 3 --output paper               HTML, without solutions
      bertedu handout 3 --output paper --solutions   with them
      bertedu handout all --output paper --pdf       every chapter, also as PDF
    """
    from bertedu.extras import needs_extra

    with needs_extra("course,authors"):
        from bertedu.classroom.handout import write_handouts

    for path in write_handouts(chapters, folder, solutions, pdf):
        say(str(path))
