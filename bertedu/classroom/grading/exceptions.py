"""What an answer raised, sent as data and raised again in the examiner, so that a check tells it as always.

The examiner never gets the student's exception or code: it makes an exception of the same name and text, raised from a
line of the same text and number.
"""

import builtins
import linecache
import traceback
from types import CodeType, FunctionType
from typing import Any

from bertedu.course.raising import LIBRARIES, text_of
from bertedu.course.stubs import code_that_raised

ANSWER = "<the answer>"


def remember(source: str, file: str = ANSWER) -> None:
    """Let tracebacks and `inspect` find the source of an answer."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)


def as_data(error: BaseException) -> dict[str, Any]:
    """The names of its type and bases, its text, and the line of the answer that it comes from."""
    own = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if not frame.f_code.co_filename.startswith((*LIBRARIES, "<frozen")):
            own = [frame.f_code.co_name[:100], frame.f_code.co_firstlineno, line]
    return {
        "types": [kind.__name__[:100] for kind in type(error).__mro__][:20],
        "text": text_of(error)[:2000],
        "bare": not error.args,
        "own": own,
        "raised": code_that_raised(error) is not None,
    }


def again(told: dict[str, Any]) -> BaseException:
    """An exception like the one that was told, with a traceback."""
    error = made(told)
    try:
        if told["own"] is None:
            raise_it(error)
        name, first, line = told["own"]
        lines = linecache.getlines(ANSWER)
        if not (type(first) is int and type(line) is int and 0 < first <= line <= len(lines) + 1):
            first = line = 1
        then = "\n" * (line - first) + (" raise error" if told["raised"] else " raise_it(error)")
        whole = compile("\n" * (first - 1) + "def f():" + then, ANSWER, "exec")
        inner = next(constant for constant in whole.co_consts if isinstance(constant, CodeType))
        FunctionType(inner.replace(co_name=str(name)), {"error": error, "raise_it": raise_it})()
    except BaseException as raised:
        return raised
    return error


def made(told: dict[str, Any]) -> BaseException:
    """An exception of that name, below the built-in type that it had."""
    names = [str(name) for name in told["types"]]
    base: type[BaseException] = Exception if "Exception" in names else BaseException
    for name in names:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            base = kind
            break
    if issubclass(base, KeyboardInterrupt | GeneratorExit | UnicodeError | BaseExceptionGroup | OSError):
        base = Exception
    kind = base if base.__name__ == names[0] else type(names[0], (base,), {})
    return kind() if told["bare"] else kind(str(told["text"]))


def raise_it(error: BaseException) -> None:
    """Raise from a line of the package, as a library does."""
    raise error
