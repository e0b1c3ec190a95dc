"""The package without its content: in the process of an answer, nobody can call what the exercise asks to write."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.abc import MetaPathFinder
from types import FunctionType, ModuleType
from typing import Any

KEPT = (
    "bertedu.classroom.",
    "bertedu.errors",
    *(f"bertedu.course.{name}" for name in ("honest", "stubs", "raising", "verdict", "settings", "without")),
)
GONE = "this is the package's own; the exercise asks you to write it"


def empty_package() -> None:
    """Let every function of the package raise, forget what the exercises' checks know, and let no more be imported."""
    sys.meta_path.insert(0, Closed())
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "bertedu" and not name.startswith(KEPT):
            if vars(module).pop("__dir__", None):  # of a package that finds names on demand
                module.__getattr__ = no_more  # type: ignore[method-assign]
            for function in functions(module):
                with suppress(ValueError, TypeError):
                    function.__code__ = gone.__code__
                    function.__defaults__ = function.__kwdefaults__ = None
            if name.startswith(("bertedu.course.", "bertedu.chapters.")):
                vars(module).clear()


class Closed(MetaPathFinder):
    """Finds no further module of the package: it would come with its content."""

    def find_spec(self, name: str, *_: Any) -> None:
        """None for modules of others. Raises ImportError for the package's."""
        if name.startswith("bertedu.") and not name.startswith(KEPT):
            raise ImportError(GONE)


def no_more(name: str) -> Any:
    """What a package says of a name that it has not imported yet."""
    raise AttributeError(GONE)


def gone(*_: Any, **__: Any) -> Any:
    """What each function of the package becomes."""
    raise RuntimeError(GONE)


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
