"""What several exercises of chapter 02 share."""

from collections.abc import Sequence

import torch
from torch import Tensor

from bertedu.course.case import Case


def needs_gradient(case: Case, learned: Sequence[Tensor], fixed: Sequence, names: Sequence[str], tried: str) -> None:
    """Not yet, unless a gradient reaches each of the learned inputs; the fixed ones are ids and plain numbers."""
    case.refuse_in_place()
    leaves = [x.clone().requires_grad_() for x in learned]
    case.begin(f"I called {case.name} on {tried} and asked for gradients.", "gradients")
    result = case.protected(case.answer, *leaves, *fixed)
    if not result.requires_grad:
        case.fail(
            "But the result is detached from its inputs, so no gradient can reach what should learn.",
            "Do you use `.detach()`, `.data`, `.tolist()`, `torch.no_grad()` or `from_pretrained` (which freezes)?",
        )
    gradients = torch.autograd.grad(result.square().sum(), leaves, allow_unused=True)
    for name, gradient in zip(names, gradients, strict=True):
        case.expect(gradient is not None and gradient.any(), f"But no gradient reaches {name}. Is it detached?")
