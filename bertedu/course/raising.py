"""What an exception in a learner's code is told as: its type, its message, and the learner's own line."""

import linecache
import re
import sysconfig
import traceback
from pathlib import Path

PACKAGE = str(Path(__file__).resolve().parents[1])
LIBRARIES = (PACKAGE, *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def own_line(error: BaseException) -> str | None:
    """The deepest line of the traceback that belongs to nobody's library: the learner's."""
    own = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith((*LIBRARIES, "<frozen")) and (text := linecache.getline(file, line).strip()):
            own = text
    return own


def text_of(error: BaseException) -> str:
    """The message of an exception; nothing where its class cannot say it."""
    try:
        return str(error)
    except BaseException:
        return ""


def told(error: BaseException, name: str) -> tuple[str, ...]:
    """Two lines: what was raised, and where."""
    message = re.sub(r"\s+", " ", text_of(error)).strip()
    if len(message) > 240:
        message = message[:240].rstrip() + "…"
    message = re.sub(r"\bat 0x[0-9a-f]+", "", message)
    raised = f"{type(error).__name__}: {message}" if message else type(error).__name__
    line = own_line(error)
    return (f"But {name} stopped with {raised}", *([f"It happened in your line: {line}"] if line else []))
