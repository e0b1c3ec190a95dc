"""What is said where a package is missing that only the extra `production` installs."""

from collections.abc import Iterator
from contextlib import contextmanager

from bertedu.errors import UserError


@contextmanager
def production_extra() -> Iterator[None]:
    """Imports inside the block that fail for want of ONNX Runtime, FastAPI or their like become a UserError."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "bertedu":
            raise
        raise UserError(f"{name} is not installed: python -m pip install 'bertedu[production]'.") from error
