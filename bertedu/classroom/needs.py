"""What is said where a package is missing that only the extra `authors` installs."""

from collections.abc import Iterator
from contextlib import contextmanager

from bertedu.errors import UserError


@contextmanager
def authors_extra() -> Iterator[None]:
    """Imports inside the block that fail for want of nbgrader, jupytext or their like become a UserError."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "bertedu":
            raise
        raise UserError(f"{name} is not installed: python -m pip install 'bertedu[course,authors]'.") from error
