"""Exercise 22.5: Repair the recomputation."""

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor, nn

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise

SHAPE, SEED = (4, 6, 16), 7


CAUSES = {
    "does not require grad": "In a backward pass no gradients are recorded. Run the layer inside "
    "`with torch.enable_grad():`, on x.detach().requires_grad_().",
    "backward through the graph a second time": "x comes from the layers before, and the backward pass went on into "
    "them. Cut it off: run the layer on x.detach().requires_grad_().",
    "incorrect number of gradients": "backward returns one thing for each argument that apply got: the gradient of x, "
    "and None for the layer.",
    "'Tensor' object is not callable": "The order is recompute(x, layer).",
    "'NoneType' object has no attribute": "Do not call forward yourself: Class.apply(…) makes ctx and calls it.",
}


def layer_with(dropout: float) -> nn.Sequential:
    """A small layer with dropout, twice; its weights do not depend on the generator's state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        parts = (nn.LayerNorm(16), nn.Linear(16, 64), nn.GELU(), nn.Dropout(dropout), nn.Linear(64, 16))
        return nn.Sequential(*parts, nn.Dropout(dropout))


class Run:
    """One forward and backward pass through two layers, one after the other: what came out, the gradients, how often
    the layers ran and in which mode, the state of the generator after forward, and the next random numbers."""

    def __init__(self, case: Case, apply: Callable | None, dropout: float):
        self.layers = [layer_with(dropout), layer_with(dropout)]
        self.modes: list[list[bool]] = [[], []]
        for layer, modes in zip(self.layers, self.modes, strict=True):
            layer.register_forward_pre_hook(lambda layer, _, modes=modes: modes.append(layer[3].training))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            self.x = torch.randn(SHAPE, requires_grad=True)
            self.output = self.x * 1  # as in the middle of a model: what comes before has a backward pass, too
            for layer in self.layers:
                self.output = layer(self.output) if apply is None else case.protected(apply, self.output, layer)
                if not isinstance(self.output, Tensor) or self.output.shape != SHAPE:
                    return
            self.after_forward = torch.get_rng_state()
            if not self.output.requires_grad:
                return
            torch.rand(2)  # what comes after the layers draws numbers, too
            weighting = torch.linspace(-1, 1, self.output.numel()).view(self.output.shape)
            if apply is None:
                (self.output * weighting).sum().backward()
            else:
                case.protected((self.output * weighting).sum().backward)
            self.next = torch.rand(3)
        self.gradients: dict[str, Any] = {  # in the order of the backward pass
            f"the gradient of weight {number} of the {place} layer": weight.grad
            for layer, place in zip(reversed(self.layers), ("second", "first"), strict=True)
            for number, weight in enumerate(layer.parameters(), start=1)
        }


class Kept:
    """A tensor that waits for the backward pass; gone as soon as nobody can go backward any more."""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor


def kept_bytes(case: Case, apply: Callable | None) -> int:
    """The bytes that one forward pass through a layer keeps for the backward pass, without the layer's weights."""
    layer, kept = layer_with(0.3), WeakSet[Kept]()
    weights = {weight.untyped_storage().data_ptr() for weight in layer.parameters()}

    def note(tensor: Tensor) -> Kept:
        kept.add(one := Kept(tensor))
        return one

    with torch.random.fork_rng(devices=[]), torch.autograd.graph.saved_tensors_hooks(note, lambda one: one.tensor):
        x = torch.zeros(SHAPE, requires_grad=True)
        output = layer(x) if apply is None else case.protected(apply, x, layer)
    storages = {one.tensor.untyped_storage().data_ptr(): one.tensor.untyped_storage().nbytes() for one in kept}
    del output  # until here it has held what the backward pass needs
    return sum(size for pointer, size in storages.items() if pointer not in weights)


@exercise(
    "22.5",
    "Repair the recomputation",
    difficulty=3,
    minutes=15,
    without=("torch.utils.checkpoint",),
    hints=(
        "Dropout draws its random numbers from a generator. In which state must the generator be when the layer runs "
        "again?",
        "Keep torch.get_rng_state() in forward. In backward: read the present state, set the one that you kept, run "
        "the layer, and set the present state again.",
    ),
)
def recomputation(case: Case) -> None:
    case.causes = CAUSES
    for dropout in (0.0, 0.3):
        case.begin(
            f"I called {case.name} for two layers with dropout {dropout}, one after the other, and went backward.",
            f"dropout {dropout}",
        )
        plain, own = Run(case, None, dropout), Run(case, case.answer, dropout)
        examine_output(case, plain, own)
        examine_gradients(case, plain, own, dropout)
        if not torch.equal(own.next, plain.next):
            case.almost(
                "The gradients are right. But after the backward pass the random numbers do not go on as they should.",
                "The next batch would repeat dropped positions, or differ from a run without recomputation. Read the "
                "state before you set the old one, and set it again afterwards.",
            )
    case.close_with("torch.utils.checkpoint does the same, on GPUs too: preserve_rng_state is its default.")


def examine_output(case: Case, plain: Run, own: Run) -> None:
    """The output is that of the layers, they run a second time, and not more than their inputs is kept."""
    if own.output is None:
        case.fail(f"But {case.name} returned None. Does it end with `return`, in every branch?")
    made = own.output if isinstance(own.output, type) else type(own.output)
    if issubclass(made, torch.autograd.Function):
        case.fail("But it returned the class, and the output of the layer is asked for.", "Return Class.apply(…).")
    case.same_shape("the output", own.output, plain.output)
    case.expect(
        all(all(modes) for modes in own.modes),
        "But the layer ran in evaluation mode, in which dropout does nothing.",
        "Leave out `.eval()`: dropout belongs to training, and the second pass must drop what the first one dropped.",
    )
    advice = "In the forward pass it should be layer(x)."
    if not torch.equal(own.after_forward, plain.after_forward):
        advice += " Run the layer once there, and only read the generator's state: do not set it."
    case.close("the output", own.output, plain.output.detach(), advice)
    case.expect(
        own.output.requires_grad,
        "But the output is cut off from x: no gradient can go back.",
        "Under torch.no_grad() alone nothing records how to go back. Return Class.apply(…) of a class like Recompute.",
    )
    case.expect(
        all(len(modes) > 1 for modes in own.modes),
        "But the layer ran once only: nothing is recomputed, and everything was kept.",
        "Run it without gradients in the forward pass, and again in the backward pass.",
    )
    kept = kept_bytes(case, case.answer)
    case.expect(
        kept <= kept_bytes(case, None) / 2,
        f"But it kept {kept:,} bytes of a layer for the backward pass, and the input alone has {own.x.nbytes:,}.",
        "Is the first pass inside torch.no_grad()?",
    )
    case.expect(
        torch.equal(own.after_forward, plain.after_forward),
        "But after the forward pass the generator is not where layer(x) leaves it.",
        "With a seed or an old state set there, layers and steps drop the same positions again and again. In forward "
        "only read the state.",
    )


def examine_gradients(case: Case, plain: Run, own: Run, dropout: float) -> None:
    """All gradients are those without recomputation."""
    case.expect(own.x.grad is not None, "But no gradient reaches x. Does backward return it?")
    case.expect(
        all(gradient is not None for gradient in own.gradients.values()),
        "But the layer's weights get no gradient.",
        "torch.autograd.grad(output, x) computes the gradient of x alone. output.backward(gradient) also adds to the "
        "gradients of the weights.",
    )
    advice = "Run the layer on x, and go backward from its output with the gradient that backward gets."
    if dropout:
        advice = (
            "The layer's second pass drops other numbers than the first. Read the generator's state before the layer "
            "runs, and set it before it runs again."
        )
        second = [name for name in plain.gradients if "second" in name]
        if all(is_close(own.gradients[name], plain.gradients[name]) for name in second):
            advice = (
                "The gradients of the second layer are right. Each call needs a state of its own: keep it in ctx, not "
                "in a variable that the next call overwrites."
            )
    for name, right in (plain.gradients | {"the gradient of x": plain.x.grad}).items():
        mine = own.gradients.get(name, own.x.grad)
        twice = {"This is twice the gradient: is it added up twice?": 2 * right}
        case.close(name, mine, right, advice, mistakes=twice)
        case.right.clear()  # thirteen shapes would hide what matters
