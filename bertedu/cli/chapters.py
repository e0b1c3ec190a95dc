"""`bertedu interview chapters`: the questions at the end of each chapter, written from the bank."""

import click

from bertedu.cli.saying import say

OUT_OF_DATE = 1  # the exit code of --check where a section isn't what the bank makes

EXAMPLES = """
\b
Examples:
  bertedu interview chapters            write the section of every chapter
  bertedu interview chapters 3 12       only these two
  bertedu interview chapters --check    list the sources that are out of date, and write nothing

In a chapter's source a question is a line such as `# <!-- attention-01 -->` in the section `## Interview questions`;
the command writes what stands below it. Afterwards `bertedu build` makes the notebooks.
"""


@click.command(epilog=EXAMPLES)
@click.argument("chapters", nargs=-1)
@click.option("--check", is_flag=True, help="Only list what is out of date.")
def chapters(chapters: tuple[str, ...], check: bool) -> int:
    """For authors: write the interview questions of the chapters from the bank."""
    from bertedu.interview.in_chapters import outdated, write

    if check:
        for path in (found := outdated(chapters)):
            say(f"{path.name}: its interview questions are not what the bank makes")
        say(f"{len(found)} out of date: run `bertedu interview chapters`." if found else "All are what the bank makes.")
        return OUT_OF_DATE if found else 0
    written = write(chapters)
    for path in written:
        say(f"wrote {path.name}")
    say("Now run `bertedu build`." if written else "Nothing to do: all are what the bank makes.")
    return 0
