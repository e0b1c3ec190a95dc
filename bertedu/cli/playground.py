"""`bertedu playground`: a page with a BERT in it."""

import webbrowser
from pathlib import Path

import click

from bertedu.cli.saying import NAME, PATH, say

SHIPPED = "checkpoints/world-tiny"  # small enough for a page of 3 MB
EXAMPLES = """
\b
Examples:
  bertedu playground                                the smallest checkpoint of the course, in playground.html
  bertedu playground runs/documentation-tiny        the BERT that you trained
  bertedu playground data/checkpoints/mixed-mini --output mini.html --open
\b
The page is one file. It computes in the browser, asks nobody for anything, and works from a USB stick.
"""


@click.command(epilog=EXAMPLES)
@click.argument("model", type=NAME, metavar="RUN_OR_CHECKPOINT", required=False)
@click.option("--output", type=PATH, default=Path("playground.html"), show_default=True, help="The page to write.")
@click.option("--open", "opened", is_flag=True, help="Open it in the browser.")
def playground(model: str | None, output: Path, opened: bool) -> None:
    """Write a page on which a BERT runs: type, hide words, look inside, change things."""
    from bertedu.course.data import data_path
    from bertedu.web.playground import write_playground

    path = write_playground(model or data_path(SHIPPED), output)
    say(f"written: {path} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser")
    if opened:
        webbrowser.open(path.resolve().as_uri())
