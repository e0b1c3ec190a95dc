"""A person's mistakes, told in one sentence on stderr with exit code 2; no traceback."""

import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from bertedu.cli.saying import readable, say
from bertedu.cli.stopping import stoppable
from bertedu.errors import UserError, visible

WRONG, STOPPED = 2, 130  # exit codes: something to put right; stopped by Ctrl-C
OUT_OF_MEMORY = re.compile("out of memory|allocate memory|Unable to allocate", re.IGNORECASE)  # torch and NumPy
NOT_A_NUMBER = {
    "is not a valid float( range)?": "is no number: write it like 0.0003 or 3e-4",
    "is not a valid integer( range)?": "is no whole number: write it like 10000",
}
# An option with one hyphen, or with a dash that a page or a program for texts has made of the hyphens.
MISTYPED = re.compile("(?:[\u2010-\u2015\u2212]-?|-)([a-z]{2}[a-z-]*)(?==|$)")
LONGEST = 500  # characters of a word, such as a path, that is repeated in a sentence


class Commands(click.Group):
    """The commands, with a person's mistakes told in one sentence on stderr and exit code 2."""

    def main(self, args: Any = None, **extra: Any) -> Any:  # type: ignore[override]
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:  # it was closed: libraries expect one
                setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr):  # a console that is not UTF-8 shows "?", and does not crash
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", module="bertedu")
            warnings.showwarning = lambda message, *_: say(f"note: {message}", err=True)
            sys.exit(self.run(args, **extra))

    def run(self, args: Any = None, **extra: Any) -> int:
        """Run a command; returns the exit code."""
        os.environ["MPLBACKEND"] = "agg"  # pictures are written and never shown: what is set may not be installed
        with stoppable() as stopped:
            try:
                arguments = readable(sys.argv[1:] if args is None else list(args))
                refuse_lost_folder()
                code = super().main(arguments, **{**extra, "standalone_mode": False}) or 0
                flush()
                return code
            except (KeyboardInterrupt, click.Abort):
                stopped.set()
            except Exception as error:
                if not stopped.is_set():
                    tell(error, sys.argv[1:] if args is None else list(args))
                    return WRONG
        say("bertedu: stopped.", err=True)
        with suppress(OSError):
            flush()
        return STOPPED


def refuse_lost_folder() -> None:
    """Raise UserError where the folder that the program was started in is there no longer: most libraries need it."""
    try:
        os.getcwd()
    except OSError as error:
        raise UserError("the folder that you are in has been removed: change to another one, and try again.") from error


def flush() -> None:
    """Print what has been said by now; what cannot be written is let go, so that the end does not fail at it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())
            if not isinstance(error, BrokenPipeError):  # then whoever read it has seen enough
                raise


def tell(error: Exception, arguments: Sequence[str] = ()) -> None:
    """Say in one sentence what a person did wrong; raises what is no person's mistake."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    elif isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "bertedu"
        said = error.format_message().rstrip(".")
        for libraries, ours in NOT_A_NUMBER.items():
            said = re.sub(libraries, ours, said)
        typed = next((option[1] for one in arguments if (option := MISTYPED.match(one))), None)
        hyphens = f"write --{typed} with two hyphens, and " if typed else ""
        say_wrong(f"{said}: {hyphens}see `{command} --help`.")
    elif isinstance(error, UserError | click.ClickException):
        say_wrong(str(error))
    elif isinstance(error, OSError) and (error.filename is not None or error.strerror is not None):
        where = error.filename or "a file, or what is printed,"
        say_wrong(f"{where} could not be read or written ({error.strerror}): check the disk and the permissions.")
    elif isinstance(error, MemoryError) or OUT_OF_MEMORY.search(str(error)):
        say_wrong(
            "this machine has not enough memory for that: smaller batches, shorter texts and a smaller model need less "
            "(--batch-size, --max-length, --accumulation)."
        )
    else:
        raise error


def say_wrong(sentence: str) -> None:
    """One line on stderr."""
    words = (word if len(word) <= LONGEST else f"{word[:100]}…{word[-100:]}" for word in visible(sentence).split())
    say(f"bertedu: {' '.join(words)}", err=True)
