"""An answer tried on many inputs: the mistake that explains what came back is named. On a single input, two mistakes
can look the same.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isclose, isnan
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case, plain, same
from bertedu.course.comparing import is_close, rounded, said, told_apart
from bertedu.course.copying import parameters
from bertedu.course.verdict import Ended

Row = tuple  # what is tried, and the inputs of the answer
Mistakes = dict[str, Callable[..., Any]]
TOLERANCE = 1e-4
LONGEST = 300  # characters


def compare(
    case: Case,
    rows: Sequence[Row],
    right: Callable[..., Any],
    mistakes: Mapping[str, Callable[..., Any]],
    *advice: str,
    names: Sequence[str] = ("the result",),
    read: Callable[..., Any] | None = None,
    function: Callable | None = None,
) -> None:
    """Not yet, unless the answer gives what `right` gives on every row.

    mistakes: by the sentence that explains it, a function that makes this mistake. Said is that of the one which gives
    what came on the first wrong row and on most of the others, else the advice. Of several names each is a part of what
    came. `read(case, what came, *inputs)` makes it comparable, or ends the check; `function` is called in place of the
    answer.
    """
    results: list[Any] = []
    wrong = None
    for place, (tried, *inputs) in enumerate(rows):
        try:
            got = case.call(*inputs, tried=tried, function=function)
            results.append(got if read is None else read(case, got, *inputs))
        except Ended:
            if wrong is None:
                raise
            break  # what was wrong before is told
        if wrong is None and not agree(results[-1], right(*inputs)):
            wrong = place
    if wrong is None:
        return
    tried, *inputs = rows[wrong]
    case.begin(f"I called {case.name} on {tried}.", tried)
    sentence = likeliest(rows, results, wrong, mistakes)
    lines = [*shown(case, inputs), *([sentence] if sentence else advice)]
    got, wanted = results[wrong], right(*inputs)
    several = len(names) > 1
    found = case.parts(got, *names) if several else (got,)
    for name, part, expected in zip(names, found, wanted if several else (wanted,), strict=True):
        if not agree(part, expected):
            tell(case, name, part, expected, *lines)


def likeliest(rows: Sequence[Row], results: Sequence[Any], wrong: int, mistakes: Mapping) -> str | None:
    """The sentence of the mistake that gives what came on the row that is wrong, and on most of the others."""
    explained = {
        sentence: [agree(result, make(*inputs)) for result, (_, *inputs) in zip(results, rows, strict=False)]
        for sentence, make in mistakes.items()
    }
    here = [sentence for sentence in mistakes if explained[sentence][wrong]]
    return max(here, key=lambda sentence: sum(explained[sentence]), default=None)


def tell(case: Case, name: str, got: Any, wanted: Any, *lines: str) -> None:
    """Not yet: what came and what was expected, and the lines."""
    if isinstance(wanted, Tensor):
        case.close(name, got, wanted, *lines, tolerance=TOLERANCE)
    texts = told_apart(got, wanted) if type(got) is type(wanted) is float else (brief(got), brief(wanted))
    case.fail(f"But {name} is {texts[0]}, and should be {texts[1]}.", *lines)


def agree(got: Any, wanted: Any) -> bool:
    """Whether two values are equal, tensors and decimals up to a small difference."""
    if isinstance(wanted, Tensor):
        if type(got) in (int, float) and not wanted.ndim:
            got = torch.tensor(got)
        return is_close(got, wanted, TOLERANCE) and torch.equal(got.isinf(), wanted.isinf())
    got, wanted = plain(got), plain(wanted)
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(agree, got, wanted))
    if isinstance(wanted, dict):
        return isinstance(got, dict) and got.keys() == wanted.keys() and all(agree(got[k], wanted[k]) for k in wanted)
    if type(wanted) is float and type(got) in (int, float):
        return isclose(got, wanted, rel_tol=TOLERANCE, abs_tol=TOLERANCE) or (isnan(got) and isnan(wanted))
    return same(got, wanted)


def shown(case: Case, inputs: Sequence[Any]) -> list[str]:
    """A line with the inputs by their names, where all of them are short."""
    names = parameters(case.answer)
    named = names if len(names) == len(inputs) else [f"input {place + 1}" for place in range(len(inputs))]
    values = [repr(value) if isinstance(value, str) else rounded(plain(value)) for value in inputs]
    line = f"Here, {', '.join(f'{name} = {value}' for name, value in zip(named, values, strict=True))}."
    return [line] if len(line) <= LONGEST and " at 0x" not in line else []


def brief(value: Any) -> str:
    """A value with its numbers where that is short, else in words."""
    text = repr(value) if isinstance(value, str) else rounded(plain(value))
    return text if len(text) <= LONGEST and " at 0x" not in text else said(value)


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
