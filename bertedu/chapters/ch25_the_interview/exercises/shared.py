"""What several exercises of chapter 25 share."""

import math
from collections.abc import Sequence

import numpy
import torch

from bertedu.course.case import Case


def number(case: Case, got: object, name: str = "the result") -> int | float:
    """The result as a number of Python, also from torch or NumPy; not yet for what is no number."""
    if (isinstance(got, torch.Tensor) and got.numel() == 1) or isinstance(got, numpy.number):
        got = got.item()
    case.is_a(name, got, int | float, "a number")
    return got  # type: ignore[return-value]


def wrong_number(case: Case, got: float, right: float, mistakes: Sequence[tuple[float, str]], otherwise: str) -> None:
    """Not yet, unless a number is right; a known mistake hears its own sentence."""
    if not math.isclose(got, right, rel_tol=1e-4):
        known = [sentence for wrong, sentence in mistakes if math.isclose(got, wrong, rel_tol=1e-4)]
        case.fail(f"But it returned {got:.4g}.", *(known[:1] or [otherwise]))
