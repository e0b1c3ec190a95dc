"""The shortest loop that trains: for little models in a notebook, that need no checkpoints, devices or reports."""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)
WARM_UP = 30  # steps


def fit(
    model: Model,
    loss_of: Callable[[Model, torch.Generator], Tensor],
    seed: int = 0,
    learning_rate: float = 3e-3,
    steps: int = 200,
) -> Model:
    """Adam on what `loss_of(model, generator)` returns at each step, with warm-up and linear decay.

    The generator, from `seed`, is the only source of random data; the model's initialization is the caller's.
    Returns the model, in evaluation mode.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters())
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * min(1, (step + 1) / WARM_UP) * (1 - step / steps)
        optimizer.zero_grad()
        loss_of(model, generator).backward()
        optimizer.step()
    return model.eval()
