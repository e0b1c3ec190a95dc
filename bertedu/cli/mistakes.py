"""A person's mistakes, told in one sentence on stderr with exit code 2; no traceback."""

import os
import sys
import warnings
from typing import Any

import click

from bertedu.cli.saying import refuse_unreadable, say
from bertedu.errors import UserError, visible

WRONG, STOPPED = 2, 130  # exit codes: something to put right; stopped by Ctrl-C
LONGEST = 500  # characters of a word, such as a path, that is repeated in a sentence


class Commands(click.Group):
    """The commands, with a person's mistakes told in one sentence on stderr and exit code 2."""

    def main(self, args: Any = None, **extra: Any) -> Any:  # type: ignore[override]
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
        try:
            refuse_unreadable(sys.argv[1:] if args is None else list(args))
            return super().main(args, **{**extra, "standalone_mode": False}) or 0
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "bertedu"
            say_wrong(f"{error.format_message().rstrip('.')}: see `{command} --help`.")
        except (UserError, click.ClickException) as error:
            say_wrong(str(error))
        except OSError as error:
            if error.filename is None and error.strerror is None:
                raise
            where = error.filename or "a file"
            say_wrong(f"{where} could not be read or written ({error.strerror}): check the disk and the permissions.")
        except (KeyboardInterrupt, click.Abort):
            say("bertedu: stopped.", err=True)
            return STOPPED
        return WRONG


def say_wrong(sentence: str) -> None:
    """One line on stderr."""
    words = (word if len(word) <= LONGEST else f"{word[:100]}…{word[-100:]}" for word in visible(sentence).split())
    say(f"bertedu: {' '.join(words)}", err=True)
