"""Where the files are that ship with the course."""

import os
from pathlib import Path

from bertedu.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]


def data_path(name: str) -> Path:
    """A file or folder that ships with the course, e.g. `data_path("checkpoints/world-tiny")`.

    It lies in $BERTEDU_DATA where that is set, else in `data` beside the package, in the present folder or in one above
    it. Raises UserError where it is not there.
    """
    chosen = os.environ.get("BERTEDU_DATA")
    here = [PACKAGE.parent, Path.cwd(), *Path.cwd().parents]
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
