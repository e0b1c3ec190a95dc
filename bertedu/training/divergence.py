"""When training diverges: a loss that is no number, or weights that are none, end a run before they are saved."""

import math
import sys
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from bertedu.errors import UserError

WORST = -sys.float_info.max  # the quality of weights whose figures are no number


def check_losses(sums: Mapping[str, Tensor], step: int) -> None:
    """Raise UserError where a summed loss is infinite or no number."""
    for name, value in sums.items():
        if name.endswith("_loss") and not math.isfinite(value):
            raise diverged(f"the {name.replace('_', ' ')} is {float(value)}", step)


def check_weights(model: nn.Module, step: int) -> None:
    """Raise UserError where a weight is infinite or no number: nothing can be learned from there on."""
    weights = [(name, weight.detach()) for name, weight in model.named_parameters()]
    finite = torch.stack([torch.isfinite(weight).all() for _, weight in weights])
    if not finite.all():  # one question to the device, not one for each weight
        name = next(name for (name, _), fine in zip(weights, finite.tolist(), strict=True) if not fine)
        raise diverged(f"{name} holds numbers that are not finite", step)


def diverged(what: str, step: int) -> UserError:
    """The end of a run that diverged, in one sentence."""
    return UserError(
        f"training diverged: {what} at step {step:,}; begin a new run with a lower --learning-rate (what this one "
        "saved before is kept)."
    )
