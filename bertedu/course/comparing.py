"""Words for values: how a number, a shape and a difference are told to a learner."""

from typing import Any

import torch
from numpy import isnan, ndarray
from torch import Tensor


def said(value: Any) -> str:
    """A value in a few words: what it is and, where it is short, what it holds."""
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        if value.numel() <= 8:
            return f"tensor({rounded(value.tolist())})"
        return f"a tensor of shape {shape(value)} and type {kind(value.dtype)}"
    if isinstance(value, float):
        return number(value)
    text = repr(value)
    if len(text) <= 100 and " at 0x" not in text:
        return text
    if isinstance(value, list | tuple | dict | set | str):
        return f"{type_name(value)} of length {len(value)}, {text[:60]}…"
    return type_name(value)


def type_name(value: Any) -> str:
    """The type with its article: "a list", "an int", "a Tensor"."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0].lower() in 'aeio' else 'a'} {name}"


def shape(value: Tensor) -> str:
    """[2, 3, 5]"""
    return str(list(value.shape))


def kind(dtype: torch.dtype) -> str:
    """float16 for torch.float16."""
    return str(dtype).removeprefix("torch.")


def number(value: float, digits: int = 3) -> str:
    """Up to so many digits that matter, and never a nought with a sign."""
    text = f"{value:.{digits}g}"
    return "0" if text == "-0" else text


def rounded(value: Any) -> str:
    """Nested lists of numbers, each with three digits that matter."""
    if isinstance(value, list):
        return "[" + ", ".join(map(rounded, value)) + "]"
    return number(value) if isinstance(value, float) else str(value)


def apart(got: Tensor, expected: Tensor, tolerance: float, nan: bool = False) -> Tensor:
    """True where two tensors of one shape differ by more than the tolerance. Two equal infinities do not differ; two
    NaN do, unless `nan` says otherwise."""
    left, right = (x.detach().to("cpu", torch.float64) for x in (got, expected))
    same = (left == right) | (left.isnan() & right.isnan() if nan else torch.tensor(False))
    return ~(same | ((left - right).abs() <= tolerance * (1 + right.abs())))


def is_close(got: Any, expected: Tensor, tolerance: float = 1e-5, nan: bool = False) -> bool:
    """Whether `got` is a tensor of the same shape with the same numbers; two NaN are the same only if `nan` says so."""
    if not isinstance(got, Tensor) or got.shape != expected.shape:
        return False
    return not bool(apart(got, expected, tolerance, nan).any())


def holds_nan(value: Any) -> bool:
    """Whether there is a NaN in a number, a tensor, an array, or in a list, tuple or dict of them."""
    kind = type(value)  # `__class__` can lie
    if kind is float:
        return value != value
    if issubclass(kind, Tensor):
        return value.is_floating_point() and bool(value.isnan().any())
    if issubclass(kind, ndarray):
        return value.dtype.kind == "f" and bool(isnan(value).any())
    if kind in (list, tuple):
        return any(map(holds_nan, value))
    return kind is dict and any(map(holds_nan, value.values()))


def difference(name: str, got: Tensor, expected: Tensor, tolerance: float) -> str:
    """Where two tensors of one shape differ first, and in how many entries."""
    wrong = apart(got, expected, tolerance)
    place = tuple(wrong.nonzero()[0].tolist())
    here = f"{name}[{', '.join(map(str, place))}]" if place else name
    found, wanted = told_apart(got.detach()[place].item(), expected.detach()[place].item())
    amount = f" ({int(wrong.sum())} of {wrong.numel()} entries differ)" if wrong.numel() > 1 else ""
    return f"{here} is {found} and should be {wanted}{amount}."


def told_apart(found: Any, wanted: Any) -> tuple[str, str]:
    """Two numbers as texts, with three digits, or with as many as it takes to see that they differ."""
    texts = rounded(found), rounded(wanted)
    for digits in range(4, 18):
        if texts[0] != texts[1] or not isinstance(found, float) or not isinstance(wanted, float):
            break
        texts = number(found, digits), number(wanted, digits)
    return texts
