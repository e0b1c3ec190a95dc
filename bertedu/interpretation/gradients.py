"""How strong the gradient is in each part of a model: what dies out, explodes or is frozen shows here.

Pascanu, Mikolov & Bengio 2013, section 2.
"""

import re

from torch import nn

from bertedu.errors import UserError

LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")


def gradient_norms(model: nn.Module) -> dict[str, float]:
    """The length of the gradient of each part, in the order of the model: "embeddings", "layer 1", …, then the heads.

    Called after loss.backward() and before the optimizer's step (and before clipping, to see what was clipped). A
    part whose weights got no gradient has 0. The tied table of token embeddings counts once, as embeddings. Raises
    UserError where no weight has a gradient.
    """
    squares: dict[str, float] = {}
    for name, parameter in model.named_parameters():  # a tied weight comes once, under its first name
        part = part_of(name)
        square = 0.0 if parameter.grad is None else parameter.grad.detach().double().square().sum().item()
        squares[part] = squares.get(part, 0.0) + square
    if all(parameter.grad is None for parameter in model.parameters()):
        raise UserError("no weight has a gradient: call loss.backward() first, and zero_grad() only afterwards.")
    return {part: square**0.5 for part, square in squares.items()}


def part_of(name: str) -> str:
    """The part that a parameter belongs to: "bert.encoder.layers.0.…" is "layer 1", "masked_lm.…" "masked_lm"."""
    layer = LAYER.search(name)
    return f"layer {int(layer[1]) + 1}" if layer else name.removeprefix("bert.").split(".")[0]
