"""`bertedu translate`: a chapter in another language, by the catalogues of gettext."""

from pathlib import Path

import click

from bertedu.cli.saying import NAME, PATH, say


@click.group()
def translate() -> None:
    """Translate a chapter: its prose, its quiz, and what its checks and hints say.

    \b
    Examples:
      bertedu translate update de 00              write or renew the catalogues; edit them with Poedit or Weblate
      bertedu translate check de                  what a translation has lost: a link, code, a placeholder
      bertedu translate build de 00 --to deutsch  write the notebooks in German, and run them
    """


@translate.command()
@click.argument("language", type=NAME)
@click.argument("chapters", nargs=-1, required=True, metavar="NN...")
def update(language: str, chapters: tuple[str, ...]) -> None:
    """Write or renew the catalogues of the chapters, and the one that all chapters share.

    Translations are kept. Where the English has changed, a translation is marked fuzzy.

    \b
    Examples:
      bertedu translate update de 00
      bertedu translate update fr 00 01
    """
    from bertedu.classroom.translation.catalogues import update as renew  # here, since it needs the authors' extra

    for count in renew(language, chapters):
        say(f"{count.path}: {count.texts} texts, {count.missing} missing, {count.fuzzy} fuzzy")


@translate.command()
@click.argument("language", type=NAME)
def check(language: str) -> None:
    """Refuse translations that lose a placeholder, a link, code or a tag, with file and line.

    \b
    Example:
      bertedu translate check de
    """
    from bertedu.classroom.translation.refusals import check as find_losses

    for count in find_losses(language):
        say(f"{count.path}: {count.texts} texts, {count.missing} missing, {count.fuzzy} fuzzy, none has lost anything")


@translate.command()
@click.argument("language", type=NAME)
@click.argument("chapters", nargs=-1, required=True, metavar="NN...")
@click.option("--to", "folder", type=PATH, required=True, help="The folder that the notebooks are written into.")
def build(language: str, chapters: tuple[str, ...], folder: Path) -> None:
    """Write the learner's and the solved notebook of each chapter in the language, and run them.

    What has no translation, or one that is marked fuzzy, stays English.

    \b
    Examples:
      bertedu translate build de 00 --to deutsch
    """
    from bertedu.classroom.translation.notebooks import build as write

    for path in write(language, chapters, folder):
        say(f"built {path}")
