"""Conditions of a fair examination: functions are what they were at the import, and an endless loop ends.

There is no sandbox here: this keeps honest mistakes and simple tricks apart, not attackers out.
"""

import ctypes
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import torch
from torch import nn

from bertedu.course.verdict import StillRunning

T = TypeVar("T")
MISSING = object()


class Originals:
    """What the functions of torch and bertedu were at their import, and a way back to them.

    A notebook may assign to `torch.softmax` or to `SelfAttention.forward`. While `restored()` lasts, such names
    mean again what they meant: for the check, for its reference and for the answer.
    """

    def __init__(self) -> None:
        torch_modules = [torch, torch.linalg, nn, nn.functional, nn.init, torch.random, torch.autograd]
        own_modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "bertedu"]
        self.saved: list[tuple[Any, dict[str, Any]]] = []
        self.inside: list[tuple[FunctionType, tuple]] = []
        self.known: set[int] = set()
        self.remember(math, *torch_modules, *own_modules, torch.Tensor, torch.Generator)

    def remember(self, *owners: Any) -> None:
        """Keep what modules and classes are now, and the classes that they name."""
        waiting = list(owners)
        while waiting:
            owner = waiting.pop()
            if id(owner) in self.known:
                continue
            self.known.add(id(owner))
            names = dict(vars(owner))
            self.saved.append((owner, names))
            for function in (one for value in names.values() for one in functions_in(value)):
                if id(function) not in self.known:
                    self.known.add(id(function))
                    self.inside.append((function, inside(function)))
            if not isinstance(owner, type) and (owner is nn or owner.__name__.partition(".")[0] == "bertedu"):
                waiting += [
                    value
                    for value in names.values()
                    if isinstance(value, type) and value.__module__.startswith(("bertedu", "torch"))
                ]

    def replaced(self) -> list[tuple[Any, str, Any]]:
        """(owner, name, original) for every name that means something else by now."""
        found = []
        for owner, names in self.saved:
            now = vars(owner)
            found += [
                (owner, name, original)
                for name, original in names.items()
                if now.get(name, MISSING) is not original and (callable(original) or hasattr(original, "__get__"))
            ]
            # A new method of a class hides its base's; a new name of a package, the one that it finds on demand.
            hiding = now.keys() if isinstance(owner, type) else now.keys() & set(names.get("__all__", ()))
            found += [(owner, name, MISSING) for name in hiding if name not in names and callable(now[name])]
        return found

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Put the originals back for as long as the block lasts."""
        changes = [(owner, name, vars(owner).get(name, MISSING), original) for owner, name, original in self.replaced()]
        for owner, name, _, original in changes:
            assign(owner, name, original)
        refilled = [(function, inside(function), parts) for function, parts in self.inside if differs(function, parts)]
        for function, _, parts in refilled:
            refill(function, parts)
        try:
            yield
        finally:
            for owner, name, replacement, _ in changes:
                assign(owner, name, replacement)
            for function, replacement, _ in refilled:
                refill(function, replacement)


class Remembering(MetaPathFinder):
    """Lets every module of bertedu be remembered as soon as it is imported, before a notebook can change it."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the module is, with a loader that remembers it. None for modules of others."""
        spec = PathFinder.find_spec(name, path, target) if name.startswith("bertedu.") else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = RememberingLoader(spec.loader.name, spec.loader.path)
        return spec


class RememberingLoader(SourceFileLoader):
    """Loads a module as always, and remembers it."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        super().exec_module(module)
        ORIGINALS.remember(module)


def functions_in(value: Any) -> Iterator[FunctionType]:
    """The Python functions that a name stands for: itself, a method's, a property's, and what a decorator wraps."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    while isinstance(value, FunctionType):
        yield value
        value = vars(value).get("__wrapped__")


def inside(function: FunctionType) -> tuple:
    """What a function runs: its code, and the default values of its parameters."""
    return function.__code__, function.__defaults__, function.__kwdefaults__


def differs(function: FunctionType, parts: tuple) -> bool:
    """Whether a function runs something else than `inside` told."""
    return any(now is not then for now, then in zip(inside(function), parts, strict=True))


def refill(function: FunctionType, parts: tuple) -> None:
    """Give a function what `inside` told."""
    function.__code__, function.__defaults__, function.__kwdefaults__ = parts


def assign(owner: Any, name: str, value: Any) -> None:
    """Set an attribute, or take it away."""
    if value is MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


def within(seconds: float, work: Callable[[], T]) -> T:
    """The result of the work. Raises StillRunning where it takes longer.

    On the main thread an alarm interrupts it; elsewhere (and on Windows, which has no such alarm) it runs in a
    thread of its own, which is told to stop.
    """
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        return with_alarm(seconds, work)
    return in_thread(seconds, work)


def with_alarm(seconds: float, work: Callable[[], T]) -> T:
    """The seconds are those of this thread at work, so that a busy machine costs nobody a right answer; work that
    waits instead ends after six times as long."""
    computed, passed = time.thread_time(), time.monotonic()

    def ring(*_: Any) -> None:
        if time.thread_time() - computed >= seconds or time.monotonic() - passed >= 6 * seconds:
            raise StillRunning

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds / 20)  # again and again: a bare `except:` swallows the first
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def in_thread(seconds: float, work: Callable[[], T]) -> T:
    """The seconds are those on the clock."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((work(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(StillRunning))
        raise StillRunning
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


ORIGINALS = Originals()
sys.meta_path.insert(0, Remembering())
