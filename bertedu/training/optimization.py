"""AdamW and its learning rate over a run.

Decoupled weight decay: Loshchilov & Hutter 2019. No decay on biases and LayerNorm, warm-up, linear decay:
Devlin et al. 2019, appendix A.2, and google-research/bert (which leaves out Adam's bias correction; torch has it).
"""

from collections.abc import Callable

import torch
from torch import nn

from bertedu.errors import UserError

Pace = Callable[[str], tuple[float, float]]


def at_full_rate(name: str) -> tuple[float, float]:
    """The pace of a weight by its name: the share of the learning rate, and the share of the run when it starts."""
    return 1.0, 0.0


def parameter_groups(model: nn.Module, weight_decay: float, pace: Pace = at_full_rate) -> list[dict]:
    """Groups for the optimizer: weights that decay, and biases and LayerNorm (one dimension), which don't.

    Weights of another pace get groups of their own, with their "scale" and "start".
    """
    groups: dict[tuple[float, float, float], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            decay = weight_decay if parameter.dim() > 1 else 0.0
            groups.setdefault((decay, *pace(name)), []).append(parameter)
    return [
        {"params": parameters, "weight_decay": decay, "scale": scale, "start": start}
        for (decay, scale, start), parameters in groups.items()
    ]


def build_optimizer(
    model: nn.Module,
    learning_rate: float,
    weight_decay: float,
    betas: tuple[float, float],
    pace: Pace = at_full_rate,
) -> torch.optim.AdamW:
    """AdamW in one fused kernel; epsilon 1e-6 as in Google's code."""
    groups = parameter_groups(model, weight_decay, pace)
    return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, eps=1e-6, fused=True)


def set_rates(optimizer: torch.optim.Optimizer, rate: float, share: float) -> None:
    """Give each group its rate: its own scale of `rate`, and 0 as long as its start lies ahead."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["scale"] if share >= group["start"] else 0.0


def rate_factor(progress: float, warmup: float) -> float:
    """What the peak learning rate is multiplied with at a share of the run: up from 0 to 1, then down to 0."""
    if progress < warmup:
        return progress / warmup
    return max(0.0, 1 - progress) / (1 - warmup)


def check_warmup(warmup: float) -> None:
    """Raise UserError for a warm-up that is no share of a run."""
    if not 0 <= warmup < 1:
        raise UserError(f"warmup is {warmup}: give the share of the run from 0 up to 1, 1 left out.")
