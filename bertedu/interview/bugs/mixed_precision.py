"""Hidden tests of the lab `mixed_precision`: a training that hardly moves."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertedu.interview.bugs.program import Program

RATE = 0.1


class Scaler(torch.amp.GradScaler):  # type: ignore[name-defined, misc]
    """A scaler that notes whether it was used."""

    used = False

    def __init__(self, *settings: Any, **named: Any) -> None:
        super().__init__(*settings, **named)
        # A scaler knows an optimizer by its address, so that of one that is gone must not come again.
        self.optimizers: list[torch.optim.Optimizer] = []

    def scale(self, outputs: Any) -> Any:
        """Scale, and note it."""
        self.used = True
        return super().scale(outputs)


def step(program: Program, scaler: Scaler, size: float = 1.0) -> Tensor:
    """The change of the weights in one step; inputs of a larger size have larger gradients."""
    model, inputs, labels = make_model(), *make_batch(size)
    before = model.weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    scaler.optimizers.append(optimizer)
    program.call("train_step", model, optimizer, scaler, inputs, labels)
    return model.weight.detach() - before


def make_model() -> nn.Linear:
    """A model that is always the same."""
    torch.manual_seed(1)
    return nn.Linear(16, 5)


def make_batch(size: float) -> tuple[Tensor, Tensor]:
    """Inputs and labels."""
    generator = torch.Generator().manual_seed(2)
    return size * torch.randn(8, 16, generator=generator), torch.randint(0, 5, (8,), generator=generator)


def scaler_of(power: int, enabled: bool = True) -> Scaler:
    """A scaler that begins at a power of two."""
    return Scaler("cpu", init_scale=2.0**power, enabled=enabled)


def clipping(program: Program) -> str | None:
    """The scale must not be seen in the weights."""
    plain = step(program, scaler_of(0, enabled=False))
    for power in (16, 10):
        scaled = step(program, scaler_of(power))
        if not torch.allclose(plain, scaled, rtol=1e-3, atol=1e-7):
            return (
                f"the same step moves the weights by {plain.norm().item():.4f} without a scaler, and by "
                f"{scaled.norm().item():.7f} with one that begins at {2**power}."
            )
    return None


def sound(program: Program) -> str | None:
    """Clipped still, scaled still, and a step whose gradients overflow is left out."""
    model, (inputs, labels) = make_model(), make_batch(100.0)
    F.cross_entropy(model(inputs), labels).backward()
    total = nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
    expected = -RATE * model.weight.grad / total  # type: ignore[operator]
    if not torch.allclose(step(program, scaler_of(0, enabled=False), 100.0), expected, rtol=1e-3, atol=1e-6):
        return "a gradient of a large norm is no longer scaled down to a norm of 1."
    scaler = scaler_of(16)
    step(program, scaler)
    if not scaler.used:
        return "the loss is no longer scaled, so small gradients are zero in float16."
    if step(program, scaler, float("inf")).any() or scaler.get_scale() != 2.0**15:
        return "a step whose gradients overflow is no longer left out, with half of the scale after it."
    return None
