"""Values as what they are: a number, text or tensor whose class answers `==` as it likes is made an ordinary one."""

import functools
import operator
from types import FunctionType, MethodType
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from bertedu.course.raising import PACKAGE

PLAIN = (bool, int, float, str, type(None))


def honest(value: Any) -> Any:
    """The value, with NumPy's numbers, and subclasses of numbers, texts and tensors, as the ordinary type, in lists,
    tuples and dicts too (which stay the same object where they hold nothing of that kind).

    Asks the value's type, never the value: `__class__` can lie.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if issubclass(kind, Tensor):
        return value if kind in (Tensor, nn.Parameter) else ordinary_tensor(value)
    if issubclass(kind, numpy.generic) and value.dtype.kind in "biufU":
        return value.item()
    if issubclass(kind, numpy.ndarray | numpy.generic):
        return value
    if issubclass(kind, int):  # bool has no subclasses
        return int.__add__(value, 0)
    if issubclass(kind, float):
        return float.__add__(value, 0.0)
    if issubclass(kind, str):
        return str.__str__(value)
    if kind is list or kind is tuple:
        items = [honest(item) for item in value]
        return value if all(map(operator.is_, items, value)) else kind(items)
    if kind is dict:
        made = {honest(key): honest(item) for key, item in value.items()}
        kept = [*made, *made.values()], [*value, *value.values()]
        return value if all(map(operator.is_, *kept)) else made
    return value


def ordinary_tensor(value: Tensor) -> Tensor:
    """A tensor of torch's own class, its gradient kept."""
    with torch._C.DisableTorchFunctionSubclass():
        return Tensor.as_subclass(value, Tensor)


def name_of(answer: Any) -> str:
    """What to call an answer in a sentence."""
    try:
        name = answer.__name__
    except BaseException:  # a class may raise anything where its name is asked for
        return "your answer"
    if type(name) is not str or not name.isprintable() or not 0 < len(name) <= 60:
        return "your answer"
    return "your function" if name == "<lambda>" else name


def is_the_packages(answer: Any) -> bool:
    """Whether a function or class comes from the package's own files: a reference handed in as an answer."""
    if isinstance(answer, functools.partial):
        answer = answer.func
    if isinstance(answer, MethodType):
        answer = answer.__func__
    if isinstance(answer, type):
        own = [function for function in vars(answer).values() if isinstance(function, FunctionType)]
    else:
        own = [answer] if isinstance(answer, FunctionType) else []
    return any(function.__code__.co_filename.startswith(PACKAGE) for function in own)


def has_doubles(value: Any) -> bool:
    """Whether there is a float64 tensor in a value."""
    if isinstance(value, Tensor):
        return value.dtype == torch.float64
    if isinstance(value, list | tuple):
        return any(map(has_doubles, value))
    return isinstance(value, dict) and any(map(has_doubles, value.values()))
