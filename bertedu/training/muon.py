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
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                average = state.setdefault("momentum_buffer", torch.zeros_like(weight))
                average.lerp_(weight.grad, 1 - self.momentum)
                momentum = weight.grad.lerp(average, self.momentum)  # Nesterov's
                update = orthogonalize(momentum.to(self.dtype).flatten(1))  # XLNet's [D, H, d] are maps to all heads
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update.view_as(weight), alpha=-group["lr"] * 0.2 * math.sqrt(max(update.shape)))


def orthogonalize(matrix: Tensor) -> Tensor:
    """About U Vᵀ for a matrix U S Vᵀ, by Newton and Schulz's iteration: all singular values become about 1."""
    a, b, c = COEFFICIENTS
    wide = matrix if matrix.size(0) <= matrix.size(1) else matrix.T
    wide = wide / wide.norm().clamp(min=1e-7)  # all singular values at most 1
    for _ in range(ITERATIONS):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide if matrix.size(0) <= matrix.size(1) else wide.T
