"""One kind of error for everything that a person can put right, and how a value is shown in its sentence."""

import re
from typing import Any

# What a terminal obeys instead of showing it (all but TAB and line break), what turns the direction of a line, and half
# characters, which no file takes.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class UserError(ValueError):
    """Something given from outside cannot be used: a file, a value, an option.

    Its message is one sentence for people that names the file (and line), the value and the remedy.
    The command line prints it without a traceback and exits with code 2.
    """


def shown(value: Any, most: int = 60) -> str:
    """A value in quotes on one line, its middle left out where it is long."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 12]} … {text[-10:]}"


def visible(text: str) -> str:
    """The text with control and half characters spelt out, so that it sets no title, and can be written anywhere."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
