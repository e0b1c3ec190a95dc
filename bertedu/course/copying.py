"""Copies of inputs, so that an answer cannot change what the reference sees, and what it changed."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def copied(value: Any) -> Any:
    """Tensors cloned, in lists, tuples and dicts too; anything else as it is."""
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if type(value) in (list, tuple, set):
        return type(value)(copied(item) for item in value)
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return value


def unchanged(before: Any, after: Any) -> bool:
    """Whether a copy is still what it was copied from."""
    if isinstance(before, Tensor):
        return (
            isinstance(after, Tensor)
            and before.shape == after.shape
            and torch.equal(before.detach().nan_to_num(), after.detach().nan_to_num())
        )
    if type(before) in (list, tuple):
        return len(before) == len(after) and all(map(unchanged, before, after))
    if type(before) is dict:
        return list(before) == list(after) and all(unchanged(before[key], after[key]) for key in before)
    return before == after if type(before) is set else before is after


def changed_input(function: Callable, before: tuple[tuple, dict], after: tuple[tuple, dict]) -> str | None:
    """The name of the first input that is no longer what it was."""
    for place, (old, new) in enumerate(zip(before[0], after[0], strict=True)):
        if not unchanged(old, new):
            names = parameters(function)
            return names[place] if place < len(names) else f"input number {place + 1}"
    for name in before[1]:
        if not unchanged(before[1][name], after[1][name]):
            return name
    return None


def by_its_names(function: Callable, inputs: tuple, named: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments for a function that has other names for its last parameters: these are given by position."""
    if not named:
        return inputs, named
    try:
        inspect.signature(function).bind(*inputs, **named)
    except TypeError:
        if len(parameters(function)) >= len(inputs) + len(named):
            return (*inputs, *named.values()), {}
    except Exception:  # as below
        pass
    return inputs, named


def parameters(function: Callable) -> list[str]:
    """The names of a function's parameters; none where it does not tell."""
    try:
        return list(inspect.signature(function).parameters)
    except Exception:  # an answer can be an object that raises anything when it is asked
        return []
