"""What is said where a package is missing that only an extra installs."""

from collections.abc import Iterator
from contextlib import contextmanager

from bertedu.errors import UserError


@contextmanager
def needs_extra(names: str) -> Iterator[None]:
    """Imports inside the block that fail for want of a package become a UserError: names are those of the extras to
    install, as in "production" or "course,authors".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "bertedu":
            raise
        raise UserError(
            f"{name} is not installed: python -m pip install 'bertedu[{names}]', or, in the course's folder, "
            f"python -m pip install -e '.[{names}]'."
        ) from error
