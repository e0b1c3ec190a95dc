"""Muon (Jordan et al. 2024), in the precision of the run.

torch.optim.Muon always orthogonalizes in bfloat16. Where a matrix of gradients has small singular values, the rounding
decides what becomes of them, so two processes, which add up in another order than one, drift apart. In float32 they
stay together.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from bertedu.training.devices import runs_ahead

ITERATIONS = 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # Jordan et al.: the steepest slope at 0, so that few iterations are enough


class Muon(torch.optim.Optimizer):
    """Momentum, then the nearest orthogonal matrix as the update, in the size of AdamW's (Liu et al. 2025).

    Groups have lr and weight_decay. dtype: what orthogonalizing computes with.
    """

    def __init__(self, groups: list[dict[str, Any]], lr: float, dtype: torch.dtype, momentum: float = 0.95):
        super().__init__(groups, {"lr": lr, "weight_decay": 0.0})
        self.dtype, self.momentum = dtype, momentum

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of every weight that has a gradient."""
        for group in self.param_groups:
            for weights in stacks(group["params"]):
                updates = self.updates(weights)
                torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
                size = 0.2 * math.sqrt(max(updates[0].flatten(1).shape))
                torch._foreach_add_(weights, updates, alpha=-group["lr"] * size)

    def updates(self, weights: list[Tensor]) -> list[Tensor]:
        """The update of each of some weights of one shape, before the learning rate."""
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        averages = [self.average_of(weight) for weight in weights]
        torch._foreach_lerp_(averages, gradients, 1 - self.momentum)
        momenta = torch._foreach_lerp(gradients, averages, self.momentum)  # Nesterov's
        matrices = [momentum.flatten(1) for momentum in momenta]  # XLNet's [D, H, d] are maps to all heads
        if len(matrices) == 1:
            found = [orthogonalize(matrices[0].to(self.dtype))]
        else:
            found = list(orthogonalize(torch.stack(matrices).to(self.dtype)))
        return [update.view_as(weight) for update, weight in zip(found, weights, strict=True)]

    def average_of(self, weight: Tensor) -> Tensor:
        """The running average of a weight's gradients."""
        state = self.state[weight]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(weight)
        return state["momentum_buffer"]


def stacks(weights: list[Tensor]) -> list[list[Tensor]]:
    """The weights that have a gradient, each alone; on a device that runs ahead, all of one shape together.

    A GPU takes about as long for one matrix of BERT as for all, since each operation has to be launched. A CPU has
    nothing to gain by it, and neither has a process with a share of each weight, since it would have to send for all.
    """
    found: dict[tuple, list[Tensor]] = {}
    for weight in weights:
        if weight.grad is not None:
            together = runs_ahead(weight.device.type) and not isinstance(weight, DTensor)
            found.setdefault((weight.shape,) if together else (id(weight),), []).append(weight)
    return list(found.values())


def orthogonalize(matrix: Tensor) -> Tensor:
    """About U Vᵀ for a matrix U S Vᵀ, by Newton and Schulz's iteration: all singular values become about 1.

    [M, N], or S of them at once, [S, M, N].
    """
    a, b, c = COEFFICIENTS
    add_product = torch.addmm if matrix.dim() == 2 else torch.baddbmm
    tall = matrix.size(-2) > matrix.size(-1)
    wide = matrix.mT if tall else matrix
    wide = wide / wide.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)  # all singular values at most 1
    for _ in range(ITERATIONS):
        gram = wide @ wide.mT
        wide = add_product(wide, add_product(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide.mT if tall else wide
