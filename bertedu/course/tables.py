"""Tables are compared row by row, so that the first row that differs can be shown."""

from collections.abc import Sequence

import torch
from torch import Tensor

from bertedu.course.case import Case


def compare_rows(
    case: Case, name: str, got: Tensor, right: Tensor, mistakes: Sequence[tuple[Tensor, str]], advice: str
) -> None:
    """Not yet, unless two tables are equal; the first row that differs is shown."""
    for at, (mine, wanted) in enumerate(zip(got.tolist(), right.tolist(), strict=True)):
        if mine != wanted:
            known = [said for wrong, said in mistakes if torch.equal(got, wrong)]
            case.fail(f"But row {at} of {name} is {mine}, and should be {wanted}.", *(known[:1] or [advice]))
