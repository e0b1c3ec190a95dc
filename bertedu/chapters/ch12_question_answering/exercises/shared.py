"""What several exercises of chapter 12 share."""

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case


def whole_number(case: Case, name: str, position: object) -> None:
    """Not yet, unless it is one whole number, the position of a token."""
    if isinstance(position, float):
        case.fail(f"But {name} is the float {position}, and a position is a whole number: int({position}).")
    case.is_a(name, position, int | Tensor | np.integer, "a whole number, the position of a token")
    case.expect(torch.as_tensor(position).numel() == 1, f"But {name} is not one number.")
