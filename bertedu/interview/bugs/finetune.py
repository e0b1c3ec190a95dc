"""Hidden tests of the lab `finetune`: a loss that stays where it is."""

import torch
from torch import nn

from bertedu.interview.bugs.program import Program

IDS, LABELS = torch.arange(48).reshape(8, 6), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])


def certain(program: Program) -> str | None:
    """The loss of a model that is sure, and right."""
    model = program.call("Classifier", 3)
    with torch.no_grad():
        model.head.weight.zero_()
        model.head.bias.copy_(torch.tensor([50.0, 0.0, 0.0]))
        loss = program.call("loss_of", model, IDS, torch.zeros(8, dtype=torch.long)).item()
    return None if abs(loss) < 0.01 else f"a model that is certain, and right, has a loss of {loss:.3f}."


def trained(program: Program) -> str | None:
    """Every weight moves in training."""
    model, optimizer = program.call("start", 3)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    for _ in range(3):
        optimizer.zero_grad()
        program.call("loss_of", model, IDS, LABELS).backward()
        optimizer.step()
    still = [name for name, parameter in model.named_parameters() if torch.equal(parameter, before[name])]
    if not still:
        return None
    return f"after three steps, {len(still)} of the model's {len(before)} tensors are the numbers that they began with."


def decay(program: Program) -> str | None:
    """What shrinks where no gradient asks for it."""
    shrunk = without_gradients(program)
    wrong = [name for name, share in shrunk.items() if share < 1 and (name.endswith("bias") or "norm" in name.lower())]
    if not wrong:
        return None
    return (
        f"where all gradients are zero, a tensor of ones that should stay as it is shrinks to {shrunk[wrong[0]]:.3f}."
    )


def without_gradients(program: Program) -> dict[str, float]:
    """What is left of each tensor of ones after five steps with gradients of zero."""
    model: nn.Module = program.call("Classifier", 3)
    optimizer = program.call("make_optimizer", model)
    for parameter in model.parameters():
        parameter.data.fill_(1.0)
    for _ in range(5):
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
    return {name: parameter.max().item() for name, parameter in model.named_parameters()}


def sound(program: Program) -> str | None:
    """Weights still decay, a head has as many classes as asked for, and losses are those of the labels."""
    kept = [
        name
        for name, share in without_gradients(program).items()
        if share == 1 and name.endswith("weight") and "norm" not in name.lower()
    ]
    if kept:
        return f"{len(kept)} of the matrices have no weight decay any more."
    model, _ = program.call("start", 5)
    with torch.no_grad():
        size = list(program.protected(lambda: model(IDS), "the model").shape)
    if size != [8, 5]:
        return f"a head for five classes gives {size} for eight texts, and it was [8, 5]."
    model = program.call("Classifier", 3)
    with torch.no_grad():
        model.head.bias.copy_(torch.tensor([5.0, 0.0, 0.0]))
        right, wrong = (program.call("loss_of", model, IDS, torch.full((8,), label)).item() for label in (0, 1))
    return None if wrong - right > 0.3 else f"right labels have a loss of {right:.2f}, and wrong ones of {wrong:.2f}."
