"""What several exercises of chapter 21 share."""

import math
from collections.abc import Sequence
from typing import Any

from bertedu.course.case import Case
from bertedu.course.comparing import said


def compare_number(case: Case, name: str, got: Any, wanted: float, known: Sequence[tuple[float, str]]) -> None:
    """Not yet, unless a number is the wanted one; a known mistake hears its sentence."""
    if isinstance(got, bool) or not isinstance(got, int | float):
        case.fail(f"But {name} should be a number, and it is {said(got)}.")
    if not math.isclose(got, wanted, rel_tol=1e-4, abs_tol=1e-7):
        sentences = [sentence for wrong, sentence in known if math.isclose(got, wrong, rel_tol=1e-4, abs_tol=1e-7)]
        if got and any(got == round(wanted, digits) for digits in (2, 3, 4)):
            sentences.append("Don't round: return the number as it is.")
        case.fail(f"But {name} is {got:.5g}, and should be {wanted:.5g}.", *sentences[:1])
