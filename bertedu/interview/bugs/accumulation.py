"""Hidden tests of the lab `accumulation`: small batches that should add up to a large one."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertedu.interview.bugs.program import Program

Batch = tuple[Tensor, Tensor]
RATE = 0.1


def make_model() -> nn.Linear:
    """Two weights and no bias, always the same."""
    model = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, -1.0]]))
    return model


def batch(seed: int, error: float = 1.0) -> Batch:
    """Four examples; with an error of 0 the model is right about them, and they ask for no change."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(4, 2, generator=generator)
    return inputs, inputs @ torch.tensor([[1.0], [-1.0]]) + error * torch.randn(4, 1, generator=generator)


def trained(program: Program, batches: list[Batch], accumulate: int, epochs: int = 1) -> tuple[Tensor, list[float]]:
    """The change of the weights, and the learning rates that the program returns."""
    model = make_model()
    rates = program.call("train", model, batches, accumulate=accumulate, epochs=epochs, learning_rate=RATE)
    return model.weight.detach() - make_model().weight.detach(), rates


def zeroing(program: Program) -> str | None:
    """Another first batch must lead to other weights."""
    one, other = (trained(program, [batch(seed), batch(3)], 2)[0] for seed in (1, 2))
    if not torch.allclose(one, other):
        return None
    return (
        "I accumulated two batches, then trained again with another first one: the weights are the same to the digit."
    )


def dividing(program: Program) -> str | None:
    """A batch that asks for nothing, then one that does: half of what the second one asks alone."""
    alone, rates = trained(program, [batch(3)], 1)
    halved, other_rates = trained(program, [batch(1, error=0.0), batch(3)], 2)
    if len(other_rates) != 1 or not other_rates[0]:
        return None  # two steps, or none: that is for the other tests
    share = halved.norm().item() / alone.norm().item() * rates[-1] / other_rates[-1]
    if abs(share - 0.5) < 0.01:
        return None
    return (
        f"of two batches one asks for no change, and the gradient is {share:.2f} of the other's alone. "
        "One batch of all these examples gives 0.50."
    )


def schedule(program: Program) -> str | None:
    """Four steps of a learning rate that falls to zero."""
    rates = trained(program, [batch(seed) for seed in range(4)], 2, epochs=2)[1]
    expected = [RATE * (1 - step / 4) for step in range(4)]
    if len(rates) == 4 and torch.allclose(torch.tensor(rates), torch.tensor(expected)):
        return None
    said = ", ".join(f"{rate:.3f}" for rate in rates)
    return f"in a training of four steps at {RATE} the learning rates are {said}: that is no line to zero."


def remainder(program: Program) -> str | None:
    """Three batches, accumulated by two: the third one must count."""
    one, other = (trained(program, [batch(1), batch(2), batch(seed)], 2)[0] for seed in (3, 4))
    if not torch.allclose(one, other):
        return None
    return "I trained on three batches, two a step, then with another third one: the weights are the same to the digit."


def sound(program: Program) -> str | None:
    """Without accumulation it is plain SGD."""
    batches = [batch(seed) for seed in range(3)]
    change, rates = trained(program, batches, 1)
    model = make_model()
    for step, (inputs, targets) in enumerate(batches):
        model.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        with torch.no_grad():
            model.weight -= RATE * (1 - step / 3) * model.weight.grad  # type: ignore[operator]
    if len(rates) != 3:
        return f"three batches without accumulation are {len(rates)} steps now."
    if not torch.allclose(change, model.weight.detach() - make_model().weight.detach(), atol=1e-5):
        return "without accumulation it no longer takes the steps of plain SGD."
    steps = len(trained(program, [batch(seed) for seed in range(4)], 2)[1])
    return None if steps == 2 else f"four batches, two a step, are {steps} steps now."
