"""What several exercises of chapter 04 share."""

import torch
from torch import nn

from bertedu.course.case import Case


def shake(case: Case, module: nn.Module) -> None:
    """Change every weight, so that no two layers are nearly the same and no norm keeps its weight of 1."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            case.expect(bool(parameter.isfinite().all()), f"But {name} holds a number that is not finite: nan or inf.")
            parameter.add_(0.4 * case.randn(*parameter.shape))
