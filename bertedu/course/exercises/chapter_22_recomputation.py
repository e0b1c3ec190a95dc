"""Exercise of chapter 22: a recomputation that draws the same random numbers."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

SHAPE, SEED = (4, 6, 16), 7


def layer_with(dropout: float) -> nn.Module:
    """A small layer with dropout, twice; its weights do not depend on the generator's state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        parts = (nn.LayerNorm(16), nn.Linear(16, 64), nn.GELU(), nn.Dropout(dropout), nn.Linear(64, 16))
        return nn.Sequential(*parts, nn.Dropout(dropout))


class Run:
    """One forward and backward pass through a layer: what came out, the gradients, how often the layer ran, the bytes
    that were kept, and the next random number."""

    def __init__(self, case: Case, apply: Callable | None, dropout: float):
        layer, self.calls, kept = layer_with(dropout), 0, dict[int, int]()
        weights = {weight.untyped_storage().data_ptr() for weight in layer.parameters()}
        layer.register_forward_pre_hook(self.count)

        def note(tensor: Tensor) -> Tensor:
            if tensor.untyped_storage().data_ptr() not in weights:
                kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            return tensor

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            self.x = torch.randn(SHAPE, requires_grad=True)
            with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
                self.output = layer(self.x) if apply is None else case.protected(apply, self.x, layer)
            self.kept, self.after_forward = sum(kept.values()), torch.get_rng_state()
            if not isinstance(self.output, Tensor) or not self.output.requires_grad:
                return
            torch.rand(2)  # what comes after the layer draws numbers, too
            weighting = torch.linspace(-1, 1, self.output.numel()).view(self.output.shape)
            if apply is None:
                (self.output * weighting).sum().backward()
            else:
                case.protected((self.output * weighting).sum().backward)
            self.next = torch.rand(3)
        self.gradients: list[Any] = [self.x.grad, *(weight.grad for weight in layer.parameters())]

    def count(self, *_: object) -> None:
        """A pass through the layer."""
        self.calls += 1


@exercise(
    "22.5",
    "Repair the recomputation",
    difficulty=3,
    minutes=15,
    hints=(
        "The layer draws its random numbers from a generator. What must the generator know when the layer runs again?",
        "Keep torch.get_rng_state() in forward. In backward: note the state of now, set the kept one, run the layer, "
        "and set the state of now again.",
    ),
)
def recomputation(case: Case) -> None:
    for dropout in (0.0, 0.3):
        case.begin(
            f"I called {case.name} on x [4, 6, 16] and a layer with dropout {dropout}, and went backward.",
            f"dropout {dropout}",
        )
        plain, own = Run(case, None, dropout), Run(case, case.answer, dropout)
        if own.output is None:
            case.fail(f"But {case.name} returned None. Does its last line say `return`?")
        case.close("the output", own.output, plain.output.detach(), "In the forward pass it should be layer(x).")
        case.expect(
            own.output.requires_grad,
            "But the output is cut off from x: no gradient can go back.",
            "Return Class.apply(…), not Class.forward(…).",
        )
        case.expect(
            own.calls > 1,
            "But the layer ran once only: nothing is recomputed, and everything was kept.",
            "Run it without gradients in the forward pass, and again in the backward pass.",
        )
        case.expect(
            own.kept <= plain.kept / 2,
            f"But it kept {own.kept:,} bytes for the backward pass, and the input alone has {plain.x.nbytes:,}.",
            "Is the first pass inside torch.no_grad()?",
        )
        case.expect(own.gradients[0] is not None, "But no gradient reaches x. Does backward return it?")
        missing = any(gradient is None for gradient in own.gradients)
        case.expect(not missing, "But the layer's weights get no gradient.", "The second pass needs enable_grad().")
        advice = (
            "The layer's second pass drops other numbers than the first. Keep the generator's state, and set it again."
            if dropout
            else "Run the layer on x, and go backward from its output with the gradient that backward gets."
        )
        for number, (mine, right) in enumerate(zip(own.gradients, plain.gradients, strict=True)):
            name = f"the gradient of weight {number}" if number else "the gradient of x"
            twice = {"This is twice the gradient: is it added up twice?": 2 * right}
            case.close(name, mine, right, advice, mistakes=twice)
        if not torch.equal(own.next, plain.next):
            case.almost(
                "The gradients are right. But after the backward pass the random numbers do not go on as they should.",
                "The next batch would repeat dropped positions, or differ from a run without recomputation. Note the "
                "state before you set the old one, and set it again afterwards.",
            )
    case.close_with("torch.utils.checkpoint does the same, on GPUs too: preserve_rng_state is its default.")
