"""A learner's program, run as a module whose functions the hidden tests call on small inputs."""

import io
import linecache
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NoReturn

from bertedu.course.raising import told
from bertedu.course.verdict import Ended, StillRunning

MODULE = "program"  # and not __main__: what stands below `if __name__ == "__main__":` does not run


class Program:
    """The names of a program, `program["encode"]`, and calls of its functions that end the examination in words."""

    def __init__(self, source: str, file: str):
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)  # for the line that raised
        self.names: dict[str, Any] = {"__name__": MODULE}
        try:
            code = compile(source, file, "exec")
        except (SyntaxError, ValueError) as error:
            where = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            self.refuse(f"Python cannot read your program{where}: {getattr(error, 'msg', error)}.")
        self.protected(lambda: exec(code, self.names), "your program")

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            self.refuse(f"Your program has no `{name}` any more. Keep its names, so that the tests can call them.")
        return self.names[name]

    def call(self, name: str, *inputs: Any, **named: Any) -> Any:
        """What the program's function of that name gives; what it raises ends the examination."""
        function = self[name]
        return self.protected(lambda: function(*inputs, **named), f"`{name}`")

    def protected(self, work: Callable[[], Any], called: str) -> Any:
        """What learner's code gives. It prints nothing meanwhile."""
        try:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                return work()
        except (StillRunning, KeyboardInterrupt):
            raise
        except BaseException as error:
            first, *rest = told(error, called)
            self.refuse(f"I ran {called}. {first}", *rest)

    def refuse(self, *lines: str) -> NoReturn:
        """End the examination."""
        raise Ended("not yet", *lines)
