"""The encoder's layers while a run trains them: compiled, or with less kept for the backward pass.

Both leave every number as it is but for rounding, and the model's code too: for as long as the run goes on, a layer has
another `forward`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from bertedu.errors import UserError
from bertedu.model.encoder import TransformerLayer


def layers_of(model: nn.Module) -> list[nn.Module]:
    """Every layer of every encoder in the model, once: ALBERT's one layer too."""
    return [module for module in model.modules() if isinstance(module, TransformerLayer)]


@contextmanager
def training_layers(model: nn.Module, compiled: bool, checkpointing: bool) -> Iterator[None]:
    """Compile the layers, checkpoint them, or both, inside the block.

    compiled: torch.compile fuses what happens between two matrix products. Layer by layer, not the whole model: all
    layers of a class share the compiled code, and the heads, whose shapes depend on which tokens are masked, stay as
    they are. checkpointing (Chen et al. 2016, "Training deep nets with sublinear memory cost"): only the input of a
    layer is kept, and the backward pass computes the rest again, with the same dropout.
    """
    layers = layers_of(model)
    for layer in layers:
        if compiled:
            layer.forward = torch.compile(layer.forward)
        if checkpointing:
            layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    try:
        yield
    finally:
        for layer in layers:
            layer.__dict__.pop("forward", None)  # that of its class is left


@cache
def check_compiler(device: str) -> None:
    """Raise UserError where torch.compile cannot make code for a device, found out by compiling an addition."""
    try:
        torch.compile(lambda numbers: numbers + 1)(torch.ones(2, device=device))
    except Exception as error:  # torch has a class for each thing that may be missing
        reason = str(error).strip().partition("\n")[0]
        raise UserError(
            f"--compile finds no compiler that works for {device} ({reason[:200]}): install one (g++ or clang for the "
            "CPU, Triton for CUDA), or leave --compile out."
        ) from None
