"""How much memory the backward pass of a model needs beside its weights: what the forward pass keeps for it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


def kept_bytes(model: nn.Module, forward: Callable[[], Any]) -> int:
    """The bytes that `forward`, a pass through the model, keeps for the backward pass, without the model's weights.

    Memory that is kept several times counts once.
    """
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        output = forward()
    del output  # it had to live until here: freed memory would have been used, and counted, again
    return sum(size for pointer, size in kept.items() if pointer not in weights)
