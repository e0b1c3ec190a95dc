"""my_bert.py on the disk: a file that a reader has changed by hand is never written over."""

import hashlib
from pathlib import Path

from bertedu.errors import UserError
from bertedu.files import read_text, write_text

SEAL = "\n# As `bertedu mine` wrote it. A changed file is left as it is: "


def sealed(text: str) -> str:
    """The program with a last line by which a change is seen."""
    return f"{text}{SEAL}{hashlib.sha256(text.encode()).hexdigest()[:12]}\n"


def is_changed(path: Path) -> bool:
    """Whether a file is there that `bertedu mine` did not write as it stands."""
    if not path.exists():
        return False
    found = read_text(path)
    return sealed(found.rpartition(SEAL)[0]) != found


def save(path: Path, text: str) -> str:
    """Write the program, and say so; or say why not."""
    try:
        if is_changed(path):
            return f"{path} was changed by hand and is left as it is: rename it to have it written anew."
        write_text(path, sealed(text))
    except UserError as error:
        return f"It is not written to a file: {error}"
    return f"Read it: {path}, {len(text.splitlines())} lines."
