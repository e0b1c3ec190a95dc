"""Which known mistake explains all that an answer gave: for drills that compare many tries with a reference."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case, plain, same
from bertedu.course.comparing import difference, is_close, number, said
from bertedu.course.verdict import Ended

TOLERANCE = 1e-4

Try = tuple  # (what is tried, the inputs of the answer …)


def compare(
    case: Case,
    name: str,
    tries: Sequence[Try],
    right: Callable[..., Any],
    mistakes: dict[str, Callable[..., Any]],
    read: Callable[..., Any],
    advice: str,
    function: Callable | None = None,
) -> None:
    """Not yet, unless the answer agrees with `right` on every try.

    mistakes: for each sentence, a function that makes this mistake. The first wrong answer is told, with the sentence
    of the mistake that explains it, all answers before it and most of those after it; else with the advice.
    `read(case, what came back, *inputs)` makes it comparable, or ends the check; `function` is called in place of the
    answer.
    """
    explained = dict.fromkeys(mistakes, 0)
    wrong: tuple[str, Any, Any] | None = None
    later = 0
    for tried, *inputs in tries:
        try:
            got = read(case, case.call(*inputs, tried=tried, function=function), *inputs)
        except Ended:
            if wrong is None:
                raise
            break
        agrees = {sentence for sentence in explained if alike(got, mistakes[sentence](*inputs))}
        if wrong is None:
            explained = {sentence: 0 for sentence in explained if sentence in agrees}
            if not alike(got, expected := right(*inputs)):
                wrong = tried, got, expected
        else:
            later += 1
            for sentence in agrees:
                explained[sentence] += 1
    if wrong:
        tried, got, expected = wrong
        case.begin(f"I called {case.name} on {tried}.", tried)
        best = max(explained, key=explained.__getitem__, default=None)
        known = best is not None and 2 * explained[best] >= later  # else it agrees by chance
        came = f"{name} is {shown(got)}, and should be {shown(expected)}."
        if isinstance(got, Tensor) and got.numel() > 8:
            came = difference(name, got, expected, TOLERANCE)
        case.fail(f"But {came}", best if known and best else advice)


def alike(got: Any, expected: Any) -> bool:
    """Whether two results agree: numbers and tensors within a tolerance, anything else exactly."""
    if isinstance(expected, Tensor):
        return is_close(got, expected, TOLERANCE) and bool((got.isinf() == expected.isinf()).all())
    if isinstance(expected, float):
        return isinstance(got, float) and math.isclose(got, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(expected, list) and any(isinstance(entry, float) for entry in expected):
        return isinstance(got, list) and len(got) == len(expected) and all(map(alike, got, expected))
    return same(plain(got), plain(expected))


def shown(value: Any) -> str:
    """A result in words: lists of numbers with three digits that matter."""
    if isinstance(value, list | tuple) and any(isinstance(entry, float) for entry in value) and len(value) <= 8:
        return f"[{', '.join(number(entry) if isinstance(entry, float) else said(entry) for entry in value)}]"
    return said(value)


def one_number(case: Case, name: str, got: Any) -> float:
    """A number of Python, numpy or torch as a float; not yet for anything else."""
    if isinstance(got, np.ndarray | np.generic):
        got = torch.as_tensor(got)
    if isinstance(got, Tensor) and got.numel() == 1 and not got.is_complex():
        got = got.item()
    if isinstance(got, Tensor):
        case.fail(f"But {name} has the shape {list(got.shape)}, and one number is expected.")
    case.is_a(name, got, int | float, "a number")
    return float(got)


def as_tensor(case: Case, name: str, got: Any) -> Tensor:
    """A tensor, array or (nested) list of numbers as a tensor; not yet for anything else."""
    if isinstance(got, list | tuple) and any(isinstance(part, Tensor) for part in got):
        case.fail(f"But {name} is a {type(got).__name__} of tensors. Make it one tensor, with torch.stack for example.")
    if not isinstance(got, Tensor):
        try:
            got = torch.as_tensor(np.asarray(got, dtype=np.float64))
        except (TypeError, ValueError):
            case.is_a(name, got, Tensor, "a tensor")
    return got


def trains(case: Case, run: Callable[..., Any], tried: str, **leaves: Tensor) -> None:
    """Not yet, unless a finite gradient reaches every leaf from the loss that `run(*leaves)` gives."""
    case.refuse_in_place()
    given = {name: leaf.detach().clone().requires_grad_() for name, leaf in leaves.items()}
    case.begin(f"I called {case.name} on {tried} and asked for gradients.", "gradients")
    loss = case.protected(run, *(leaf.clone() for leaf in given.values()))
    if not isinstance(loss, Tensor) or not loss.requires_grad:
        case.fail(
            "But the loss is cut off from its inputs, so nothing can be trained with it.",
            "Is there a `.detach()`, `.item()`, `.numpy()`, `float()` or `torch.no_grad()` on the way?",
        )
    gradients = torch.autograd.grad(loss.sum(), list(given.values()), allow_unused=True)
    for name, gradient in zip(given, gradients, strict=True):
        if gradient is None or not bool((gradient != 0).any()):
            case.fail(f"But no gradient reaches {name}: is it detached or made anew on the way?")
        if not bool(gradient.isfinite().all()):
            case.fail(f"But the gradient of {name} contains nan or infinity, although the loss is right.")
