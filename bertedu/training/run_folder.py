"""The folder of a run: one process at a time writes into it, and none writes over what another has trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from bertedu.errors import UserError
from bertedu.files import naming_failures, quoted
from bertedu.training.resume import remove_leftovers

PLAN = "run.json"
LOCK = ".lock"


def begun(folder: Path) -> bool:
    """Whether the run in this folder has saved anything that could be lost, or that could be gone on from.

    A run that was killed before its first state has not, though its run.json is there: it begins anew.
    """
    return (folder / "metrics.json").exists() or any(folder.rglob("*.safetensors"))


def refuse_begun(folder: Path) -> None:
    """Raise UserError for a folder that holds a run already."""
    if (folder / PLAN).exists() and begun(folder):
        raise UserError(
            f"{folder} holds a run already: go on with --resume {quoted(folder)}, or choose another --output."
        )


def unused_folder(name: str) -> Path:
    """runs/NAME, or runs/NAME-2, -3 and so on where there is a run already: none is ever written over."""
    number = 1
    folder = Path("runs") / name
    while (folder / PLAN).exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Be the only one who writes into the folder, for as long as the block lasts. Raises UserError where another is.

    The lock is the system's, on an empty file that stays: it ends with the process that holds it, however that ends.
    """
    lock = FileLock(folder / LOCK)
    with naming_failures(folder / LOCK):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise UserError(
                f"{folder} is in use by another run: wait until that one has ended, or choose another --output."
            ) from None
    try:
        remove_leftovers(folder)
        yield
    finally:
        lock.release()
