"""What several exercises of chapter 18 share."""

import torch
from torch import Tensor


def rows(length: int, span: int) -> Tensor:
    """The row of the table for each pair, [T, T]."""
    positions = torch.arange(length)
    return (positions[:, None] - positions + span).clamp(0, 2 * span - 1)
