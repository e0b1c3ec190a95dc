"""The package without its content: in the process of an answer, nobody can call what the exercise asks to write."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

KEPT = (
    "bertedu.classroom.",
    "bertedu.errors",
    *(f"bertedu.course.{name}" for name in ("honest", "stubs", "raising", "verdict", "settings", "without")),
)


def empty_package() -> None:
    """Let every function of the package raise, and forget what the exercises' checks know."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "bertedu" and not name.startswith(KEPT):
            for function in functions(module):
                with suppress(ValueError, TypeError):
                    function.__code__ = gone.__code__
                    function.__defaults__ = function.__kwdefaults__ = None
            if name.startswith(("bertedu.course.", "bertedu.chapters.")):
                vars(module).clear()


def gone(*_: Any, **__: Any) -> Any:
    """What each function of the package becomes."""
    raise RuntimeError("this is the package's own; the exercise asks you to write it")


def functions(module: ModuleType) -> Iterator[FunctionType]:
    """The functions and methods that a module names, and what their decorators wrap."""
    for value in [*vars(module).values()]:
        inner = [*vars(value).values()] if isinstance(value, type) else [value]
        for one in inner:
            if isinstance(one, property):
                one = one.fget
            one = getattr(one, "__func__", one)
            while one is not None:
                own = isinstance(one, FunctionType) and str(one.__module__).startswith("bertedu.")
                if own and not one.__module__.startswith(KEPT):
                    yield one
                one = getattr(one, "__wrapped__", None)
