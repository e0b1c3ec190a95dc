"""Words for values: how a number, a shape and a difference are told to a learner."""

from typing import Any

import torch
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


def apart(got: Tensor, expected: Tensor, tolerance: float) -> Tensor:
    """True where two tensors of one shape differ by more than the tolerance; two NaN, and two equal
    infinities, do not differ."""
    left, right = (x.detach().to("cpu", torch.float64) for x in (got, expected))
    same = (left == right) | (left.isnan() & right.isnan())
    return ~(same | ((left - right).abs() <= tolerance * (1 + right.abs())))


def is_close(got: Any, expected: Tensor, tolerance: float = 1e-5) -> bool:
    """Whether `got` is a tensor of the same shape with the same numbers."""
    return isinstance(got, Tensor) and got.shape == expected.shape and not bool(apart(got, expected, tolerance).any())


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
