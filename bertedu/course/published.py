"""A published model for the cells that are better with the internet, and go on without it."""

from pathlib import Path

from bertedu.checkpoints.folder import find_folder
from bertedu.errors import UserError


def published(name: str, size: str) -> Path | None:
    """The folder of a model of the Hugging Face hub, fetched once and kept in the hub's own cache; size ("440 MB") is
    what the reader is told. None where it can't be had, which one printed line says."""
    try:
        return find_folder(name)
    except UserError:
        print(f"{name} ({size}) is left out: the Hugging Face hub can't be reached from here. Nothing below needs it.")
        return None
