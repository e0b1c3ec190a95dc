"""`bertedu start` and `bertedu lab`: from an installed package to a notebook that is open."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from bertedu.cli.saying import PATH, say


@click.command()
@click.argument("folder", type=PATH)
def start(folder: Path) -> None:
    """Unpack the notebooks of the course into FOLDER, and say what to do next.

    Run it again after an update: it brings what is new, and keeps every notebook that you have changed.

    \b
    Example:
      bertedu start my-course
    """
    from bertedu.course.unpacking import FIRST, unpack
    from bertedu.files import quoted

    result = unpack(folder)
    count = sum(name.endswith(".ipynb") for name in result.written)
    if count:
        say(f"{count} notebooks, their pictures and the data to fine-tune on are in {folder}.")
    if result.updated:
        say(f"{len(result.updated)} files that you had not changed were brought up to date.")
    if kept := [name for name in result.kept if name.endswith(".ipynb")]:
        say(f"Kept as you have them: {', '.join(kept)}. To get a fresh copy, rename yours and run this again.")
    if result.same and not (result.written or result.updated or kept):
        say(f"{folder} is up to date.")
    say(f"Next: bertedu lab {quoted(folder)}    opens {FIRST} in JupyterLab")


@click.command()
@click.argument("folder", type=PATH, default=Path("."))
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
def lab(folder: Path, no_browser: bool) -> None:
    """Open JupyterLab on the first notebook in FOLDER (the present folder where none is named).

    \b
    Examples:
      bertedu lab my-course
      bertedu lab my-course --no-browser      on another machine, whose address you open yourself
    """
    from bertedu.course.unpacking import first_notebook
    from bertedu.errors import UserError

    notebook = first_notebook(folder)
    if find_spec("jupyterlab") is None:
        raise UserError("JupyterLab is not installed: python -m pip install 'bertedu[course]'.")
    command = [sys.executable, "-m", "jupyterlab", notebook.name, *(["--no-browser"] if no_browser else [])]
    raise SystemExit(subprocess.run(command, cwd=notebook.parent, check=False).returncode)
