"""One kind of error for everything that a person can put right, and how a value is shown in its sentence."""

from typing import Any


class UserError(ValueError):
    """Something given from outside cannot be used: a file, a value, an option.

    Its message is one sentence for people that names the file (and line), the value and the remedy.
    The command line prints it without a traceback and exits with code 2.
    """


def shown(value: Any, most: int = 60) -> str:
    """A value in quotes on one line, its middle left out where it is long."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 12]} … {text[-10:]}"
