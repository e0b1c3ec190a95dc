"""Loss scaling, without which float16 loses small gradients (Micikevicius et al. 2018, section 3.2).

The smallest number of float16 is about 6e-8, and many gradients are smaller. So the loss is multiplied by a large
number, and the gradients, once they are in float32, are divided by it. Where a gradient is infinite the number was too
large: the step is left out, and the number halved; after 2,000 steps without one it is doubled. bfloat16 reaches as far
as float32 and needs none of this.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer


class LossScaling:
    """torch's GradScaler for one or two optimizers that step together or not at all. Not enabled, it changes nothing.

    skipped: the steps that were left out.
    """

    def __init__(self, device: str, enabled: bool):
        self.scaler, self.skipped = torch.amp.GradScaler(device, enabled=enabled), 0
        self.loaded: dict[str, Any] | None = None

    def scale(self, loss: Tensor) -> Tensor:
        """The loss to go backward from."""
        return self.scaler.scale(loss)

    def step(self, optimizers: list[Optimizer], clip: Callable[[], Tensor]) -> None:
        """Divide the gradients, clip them (`clip` returns their norm), and take the step of all optimizers."""
        for optimizer in optimizers:
            self.scaler.unscale_(optimizer)
        norm = clip()
        if self.scaler.is_enabled() and not torch.isfinite(norm):
            # GradScaler would let an optimizer step whose own gradients were finite: clipping has made them 0 or nan.
            self.skipped += 1
        else:
            for optimizer in optimizers:
                optimizer.step()  # the scaler's own would ask each optimizer again whether its gradients are finite
        if self.scaler.is_enabled():
            self.scaler.update()

    def state(self) -> dict[str, Any] | None:
        """What a run that is resumed needs; None where nothing is scaled, nor was on the device that it began on."""
        if not self.scaler.is_enabled():
            return self.loaded
        state = self.scaler.state_dict()
        return {"scale": state["scale"], "growth_tracker": state["_growth_tracker"], "skipped": self.skipped}

    def load(self, state: dict[str, Any] | None) -> None:
        """Go on from a saved state."""
        self.loaded = state
        if state is not None:
            named = {"scale": state["scale"], "_growth_tracker": state["growth_tracker"]}
            self.scaler.load_state_dict({**self.scaler.state_dict(), **named})
            self.skipped = state["skipped"]
