"""Pre-trains a small masked language model on sequences that count: 7 8 9 10. Neighbours tell the masked word."""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F

PAD, CLS, SEP, MASK, FIRST, V = 0, 1, 2, 3, 4, 30  # words are the ids from FIRST to V - 1
LONGEST, BATCH = 16, 20


def sequences(count: int, seed: int) -> torch.Tensor:
    """[CLS], some words in a row, [SEP], padding: [count, LONGEST]."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.full((count, LONGEST), PAD)
    for row in ids:
        length, start = torch.randint(0, 1000, (2,), generator=generator).tolist()
        length = 6 + length % (LONGEST - 8)
        row[0], row[length + 1] = CLS, SEP
        row[1 : length + 1] = FIRST + (start + torch.arange(length)) % (V - FIRST)
    return ids


def mask_tokens(ids: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose 15% of the words; of these 80% become [MASK], 10% another word, 10% stay. Returns inputs and labels."""
    chosen = (torch.rand(ids.shape, generator=generator) < 0.15) & (ids != PAD)
    draw = torch.rand(ids.shape, generator=generator)
    words = torch.randint(FIRST, V, ids.shape, generator=generator)
    inputs = torch.where(chosen & (draw < 0.8), MASK, ids)
    inputs = torch.where(chosen & (draw >= 0.9), words, inputs)
    return inputs, torch.where(chosen, ids, PAD)


def batches(ids: torch.Tensor, epochs: int, seed: int = 0) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """All sequences, in batches, once in each epoch."""
    for _ in range(epochs):
        generator = torch.Generator().manual_seed(seed)
        for part in ids.split(BATCH):
            yield mask_tokens(part, generator)


class Neighbours(nn.Sequential):
    """Logits from a window of three tokens: [B, T] -> [B, V, T]."""

    def __init__(self) -> None:
        super().__init__(nn.Embedding(V, 32))
        self.convolution = nn.Conv1d(32, V, kernel_size=3, padding=1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.convolution(self[0](ids).transpose(1, 2))


def train(model: nn.Module, ids: torch.Tensor, epochs: int) -> float:
    """The mean loss of the last epoch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for inputs, labels in batches(ids, epochs):
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses[-len(ids.split(BATCH)) :]) / len(ids.split(BATCH))


def evaluate(model: nn.Module, ids: torch.Tensor) -> tuple[float, float]:
    """Loss and accuracy of the fourth word, which is always masked."""
    masked, words = ids.clone(), ids[:, 4]
    masked[:, 4] = MASK
    with torch.no_grad():
        logits = model(masked)[:, :, 4]
    return F.cross_entropy(logits, words).item(), (logits.argmax(dim=-1) == words).float().mean().item()


def main() -> dict[str, float]:
    """Train, then predict masked words of sequences that were not seen."""
    torch.manual_seed(0)
    model = Neighbours()
    training_loss = train(model, sequences(60, seed=1), epochs=40)
    loss, right = evaluate(model, sequences(200, seed=2))
    return {"training loss": training_loss, "loss of masked words, new sequences": loss, "their accuracy": right}


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
