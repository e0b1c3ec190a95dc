"""Trains with a loss scaler, as mixed precision needs it: small gradients would be zero in float16."""

import torch
from torch import nn
from torch.nn import functional as F

CLASSES, SIZE = 5, 16
MAX_NORM = 1.0


def make_data(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Points around one centre for each class: [count, SIZE], and their classes [count]."""
    generator = torch.Generator().manual_seed(seed)
    centres = torch.eye(CLASSES, SIZE) * 3
    labels = torch.randint(0, CLASSES, (count,), generator=generator)
    return centres[labels] + torch.randn(count, SIZE, generator=generator), labels


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    inputs: torch.Tensor,
    labels: torch.Tensor,
) -> float:
    """One step with clipped gradients; returns the loss. The scaler leaves out a step whose gradients overflow."""
    loss = F.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


def train(model: nn.Module, steps: int, scaled: bool) -> float:
    """The mean loss of the last ten steps."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, enabled=scaled)
    losses = [train_step(model, optimizer, scaler, *make_data(32, seed)) for seed in range(steps)]
    return sum(losses[-10:]) / 10


def accuracy(model: nn.Module) -> float:
    """The share of new points whose class is right."""
    inputs, labels = make_data(500, seed=10_000)
    with torch.no_grad():
        return (model(inputs).argmax(dim=-1) == labels).float().mean().item()


def main() -> dict[str, float]:
    """The same training in full precision, and with the scaler that float16 needs."""
    figures = {}
    for name, scaled in (("full precision", False), ("with the scaler", True)):
        torch.manual_seed(0)
        model = nn.Linear(SIZE, CLASSES)
        figures[f"loss, {name}"] = train(model, steps=100, scaled=scaled)
        figures[f"accuracy, {name}"] = accuracy(model)
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
