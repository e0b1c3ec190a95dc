"""All kinds of inputs of a saboteur, how often each comes, and whether one of them goes well.

A kind draws one input from a seed: a file that is written well and then perhaps damaged, or a command with strange
options. What must come out is said beside it (`oracle.py`). Kinds that take longer come less often.
"""

import random
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.hostile import brought, commands, doctor_and_build, json_files, options, readers, reports, rows, states
from support.hostile.oracle import Input, check

KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    **readers.KINDS,
    **rows.KINDS,
    **json_files.KINDS,
    **states.KINDS,
    **reports.KINDS,
    **commands.KINDS,
    **options.KINDS,
    **doctor_and_build.KINDS,
    **brought.KINDS,
}
OFTEN = 30
SHARES = {
    **dict.fromkeys(states.KINDS, 8),
    **dict.fromkeys(reports.KINDS, 8),
    **dict.fromkeys(("fill-mask and attention", "answer", "build"), 8),
    "pages with pictures": 3,
}
SECONDS = 30


class Late(BaseException):
    """An input takes too long: nothing in the package may take this for a failure of its own."""


def kind_of(number: int) -> str:
    """The kind of the input with this number."""
    return random.Random(f"kind {number}").choices(list(KINDS), [SHARES.get(name, OFTEN) for name in KINDS])[0]


def try_one(kind: str, name: str, folder: Path) -> str:
    """ "" where the input of this kind, drawn from this name, went well, else what happened."""

    def late(*_: Any) -> None:
        raise Late(f"more than {SECONDS} s")

    begun = time.monotonic()
    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        check(KINDS[kind](random.Random(name), folder))
        return "" if time.monotonic() - begun <= SECONDS else f"more than {SECONDS} s"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error}"[:700] + f" ({where.filename}:{where.lineno})"
    finally:
        signal.alarm(0)
