"""Asking a model without changing it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[torch.device]:
    """Dropout off inside the block, the mode as before after it; gives the model's device. Gradients are left as they
    are: some questions are answered by them.
    """
    training = model.training
    model.eval()
    try:
        yield next(model.parameters()).device
    finally:
        model.train(training)
