"""The encoder's layers while a run trains them: compiled, or with less kept for the backward pass.

Both leave every number as it is but for rounding, and the model's code too: for as long as the run goes on, a layer has
another `forward`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from bertedu.errors import UserError
from bertedu.model.encoder import TransformerLayer


def layers_of(model: nn.Module) -> list[nn.Module]:
    """Every layer of every encoder in the model, once: ALBERT's one layer too."""
    return [module for module in model.modules() if isinstance(module, TransformerLayer)]


@contextmanager
def training_layers(model: nn.Module, compiled: bool, checkpointing: bool, few_shapes: bool = False) -> Iterator[None]:
    """Compile the layers, checkpoint them, or both, inside the block.

    compiled: torch.compile fuses what happens between two matrix products. Layer by layer, not the whole model: all
    layers of a class share the compiled code, and the heads, whose shapes depend on which tokens are masked, stay as
    they are. few_shapes: see ByPadding. checkpointing (Chen et al. 2016, "Training deep nets with sublinear memory
    cost"): only the input of a layer is kept, and the backward pass computes the rest again, with the same dropout.
    """
    layers = layers_of(model)
    for layer in layers:
        if compiled:
            layer.forward = ByPadding(layer.forward) if few_shapes else torch.compile(layer.forward)
        if checkpointing:
            layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    try:
        yield
    finally:
        for layer in layers:
            layer.__dict__.pop("forward", None)  # that of its class is left


class ByPadding:
    """A layer's forward, compiled twice: for batches in which nothing is padded exactly as they are, and for all others
    once for every length and number of rows.

    Code for one shape is faster than code for many, but there would have to be few lengths: rounded up to multiples of
    64, 13 to 21 % of the documentation's tokens would be padding, to multiples of 8 it is 3 to 7 %. The last batch of a
    pass has fewer rows, each time another number: where nothing in it is padded it runs as it is. (Of a batch that is
    cut into parts, these differ by one row.)
    """

    def __init__(self, forward: Callable[..., Any]):
        self.plain = forward
        self.of_full, self.of_padded = (torch.compile(forward, dynamic=dynamic) for dynamic in (False, True))
        self.rows = 0  # the most so far of a batch without padding

    def __call__(self, hidden_states: Tensor, bias: Any = None, *others: Any, **named: Any) -> Any:
        """As the layer's forward: hidden_states [B, T, D], and a bias where there is padding. What is asked between the
        steps is not compiled.
        """
        if not torch.is_grad_enabled():
            forward = self.plain
        elif bias is not None:
            forward = self.of_padded
        else:
            self.rows = max(self.rows, len(hidden_states))
            forward = self.of_full if len(hidden_states) + 1 >= self.rows else self.plain
        return forward(hidden_states, bias, *others, **named)


def has_compiler(device: str) -> bool:
    """Whether torch.compile can make code for a device."""
    try:
        check_compiler(device)
    except UserError:
        return False
    return True


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
