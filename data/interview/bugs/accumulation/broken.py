"""Trains with gradient accumulation: several small batches that fit into memory stand in for one large one."""

import torch
from torch import nn
from torch.nn import functional as F

Batch = tuple[torch.Tensor, torch.Tensor]


def make_data(count: int, seed: int) -> Batch:
    """Inputs [count, 8] and what a linear function with a little noise makes of them [count, 1]."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 8, generator=generator)
    weights = torch.linspace(-2, 2, 8).unsqueeze(-1)
    return inputs, inputs @ weights + 0.1 * torch.randn(count, 1, generator=generator)


def in_batches(data: Batch, size: int) -> list[Batch]:
    """The data in batches of that size; the last one may be smaller."""
    return list(zip(data[0].split(size), data[1].split(size), strict=True))


def train(
    model: nn.Module, batches: list[Batch], accumulate: int = 1, epochs: int = 1, learning_rate: float = 0.1
) -> list[float]:
    """Train with SGD: one step of the optimizer for every `accumulate` batches, at a learning rate that falls to zero.

    Returns the learning rate of each step.
    """
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    steps = epochs * len(batches)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / steps))
    rates: list[float] = []
    for _ in range(epochs):
        for number, (inputs, targets) in enumerate(batches, start=1):
            optimizer.zero_grad()
            loss = F.mse_loss(model(inputs), targets)
            loss.backward()
            if number % accumulate == 0:
                rates.append(schedule.get_last_lr()[0])
                optimizer.step()
                schedule.step()
    return rates


def final_loss(size: int, accumulate: int) -> float:
    """The loss on new data after training on 190 examples."""
    torch.manual_seed(0)
    model = nn.Linear(8, 1)
    train(model, in_batches(make_data(190, seed=1), size), accumulate, epochs=3, learning_rate=0.25)
    inputs, targets = make_data(500, seed=2)
    with torch.no_grad():
        return F.mse_loss(model(inputs), targets).item()


def main() -> dict[str, float]:
    """The same training twice, with the same number of examples for each step: the losses should be close."""
    return {"loss, batches of 32": final_loss(32, 1), "loss, 8 batches of 4": final_loss(4, 8)}


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
