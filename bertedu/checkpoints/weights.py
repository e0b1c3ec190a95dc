"""What the weights of a saved model must be before any of them is used: finite floats, and as many as the model has."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from bertedu.errors import UserError

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
HEAD = 10_000_000  # weights that a new head may add to those in a file


def check_weights(tensors: dict[str, Tensor], path: Path) -> None:
    """Raise UserError for weights that are of another type than floats, NaN or infinite (also as float32)."""
    for name, tensor in tensors.items():
        if tensor.dtype not in FLOATS:
            raise UserError(
                f"{path}: {name} is of the type {str(tensor.dtype).removeprefix('torch.')}: weights are float32, "
                "float16, bfloat16 or float64 here; save them so."
            )
        if not torch.isfinite(tensor.float()).all():
            raise UserError(f"{path}: {name} holds infinite numbers or NaN: take an earlier checkpoint.")


def check_size(build: Callable[[], nn.Module], path: Path) -> None:
    """Raise UserError where the model of config.json is far larger than its weights, before memory is taken for it."""
    if not path.is_file():
        return
    with torch.device("meta"):  # shapes without numbers
        wanted = sum(parameter.numel() for parameter in build().parameters())
    room = path.stat().st_size // 2  # bytes of the smallest numbers
    if wanted > 2 * room + HEAD:
        raise UserError(
            f"{path} has room for {room:,} numbers, and the model of the config.json beside it has {wanted:,}: "
            "config.json and the weights are not of the same model."
        )
