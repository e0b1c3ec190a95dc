"""The folder of a run: one process at a time writes into it, and none writes over what another has trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
    """Raise UserError for a folder that holds a run already, and for a file or a link to nowhere in its place."""
    if (folder.is_symlink() or folder.exists()) and not folder.is_dir():
        raise UserError(f"{folder} is no folder: choose another --output.")
    if (folder / PLAN).exists() and begun(folder):
        raise UserError(
            f"{folder} holds a run already: go on with --resume {quoted(folder)}, or choose another --output."
        )


def refuse_other_run(folder: Path, values: dict[str, Any], command: str) -> None:
    """Raise UserError where the run.json of a folder, read as values, is of the other kind of runs."""
    kinds = {"pretrain": "corpus", "finetune": "task"}
    other = next(name for name in kinds if name != command)
    if kinds[other] in values and kinds[command] not in values:
        raise UserError(
            f"{folder} is a run of `bertedu {other}`, not of {command}: go on with `bertedu {other} --resume "
            f"{quoted(folder)}`."
        )


def refuse_another_folder(folder: Path, given: dict[str, Any]) -> None:
    """Raise UserError where a run that goes on is given another folder than its own."""
    if "output" in given:
        raise UserError(f"a run goes on in its own folder, {folder}: leave --output out, or --resume.")


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
