"""Public data for the cells that are better with the internet, and go on without it."""

from bertedu.corpora.readers.labelled import LabelledText
from bertedu.corpora.task_data import read_labelled
from bertedu.errors import UserError


def public_rows(name: str, size: str) -> tuple[list[LabelledText], list[LabelledText]] | None:
    """The splits train and validation of a data set of the Hugging Face hub, as labelled texts; size ("3 MB") is what
    the reader is told. None where they can't be had, which one printed line says, with the reason: no network, no such
    set, or the library `datasets` isn't there."""
    try:
        training, validation = (list(read_labelled(f"hub:{name}", split=split)) for split in ("train", "validation"))
        return training, validation
    except UserError as error:
        print(f"{name} ({size}) is left out: {error}")
        return None
