"""What several exercises of chapter 22 share."""

import math
from numbers import Real
from typing import Any

from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import said


def expect_number(case: Case, name: str, got: Any, right: float, advice: str, mistakes: list[tuple]) -> None:
    """Not yet, unless `got` is the number `right`, up to rounding.

    mistakes: pairs of what a known mistake gives and the sentence that explains it; the first that fits is said.
    """
    if isinstance(got, Tensor) and got.numel() == 1:
        got = got.item()
    case.expect(
        isinstance(got, Real) and not isinstance(got, bool),
        f"But {name} should be a single number, and it is {said(got)}.",
    )
    value = float(got)
    if not math.isclose(value, right, rel_tol=1e-5):
        known = [sentence for wrong, sentence in mistakes if math.isclose(value, wrong, rel_tol=1e-5)]
        digits = 4 if written(value) != written(right) else 9
        came, wanted = written(value, digits), written(right, digits)
        case.fail(f"But {name} is {came} and should be {wanted}.", *(known or [advice])[:1])


def written(value: float, digits: int = 4) -> str:
    """A number as people write it: 16,000,000 and not 1.6e+07."""
    return f"{value:,.0f}" if digits == 4 and 1000 <= abs(value) < 1e15 else f"{value:.{digits}g}"


def counted(number: int, thing: str) -> str:
    """1 worker, 4 workers."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
