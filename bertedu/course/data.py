"""Where the files are that ship with the course."""

import os
from pathlib import Path

from bertedu.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
IN_WHEEL = PACKAGE / "_course"  # where setup.py puts the course when a wheel is built


def data_path(name: str) -> Path:
    """A file or folder that ships with the course, e.g. `data_path("checkpoints/world-tiny")`.

    It lies in $BERTEDU_DATA where that is set, else in `data` inside an installed package, beside the package of a
    clone, in the present folder or in one above it. Raises UserError where it is not there.
    """
    chosen = os.environ.get("BERTEDU_DATA")
    here = [IN_WHEEL, PACKAGE.parent, Path.cwd(), *Path.cwd().parents]
    folders = [Path(chosen)] if chosen else [place / "data" for place in here]
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    if chosen:
        raise UserError(f"{folders[0] / name} is not there: fetch the course's folder data/ again.")
    raise UserError(
        f"{name} was not found in the folder data/ of the course: open the notebooks inside the course's folder, "
        "or set BERTEDU_DATA to its data folder."
    )


def shipped_notebooks() -> Path:
    """The folder of the learner's notebooks: inside an installed package, or beside the package of a clone."""
    for place in (IN_WHEEL, PACKAGE.parent):
        if (place / "notebooks" / "pictures").is_dir():
            return place / "notebooks"
    raise UserError(f"the notebooks are not in {IN_WHEEL}: install bertedu again, from a wheel or from its repository.")
