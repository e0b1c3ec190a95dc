"""What several exercises of chapter 19 share."""

import torch
from torch import Tensor


def neighbors(vectors: Tensor, angles: Tensor) -> Tensor:
    """The other convention: the numbers 2k and 2k + 1 are a pair."""
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    cosine, sine = angles.cos(), angles.sin()
    return torch.stack([first * cosine - second * sine, second * cosine + first * sine], dim=-1).flatten(-2)


def columns(weight: Tensor, heads: int) -> Tensor:
    """The columns in the other order instead of the rows."""
    return weight.unflatten(1, (heads, 2, -1)).transpose(2, 3).reshape(weight.shape)
