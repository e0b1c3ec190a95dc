"""Fine-tunes a pretrained encoder: a new classification head for three classes, all weights are trained."""

import torch
from torch import nn
from torch.nn import functional as F

WORDS, SIZE, CLASSES = 60, 24, 3


class Encoder(nn.Module):
    """The mean of a text's embeddings, a layer norm and a dense layer: [B, T] -> [B, D]."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(WORDS, SIZE)
        self.norm = nn.LayerNorm(SIZE)
        self.dense = nn.Linear(SIZE, SIZE)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.dense(self.norm(self.embeddings(ids).mean(dim=1))).tanh()


class Classifier(nn.Module):
    """An encoder with a head on top; the pretrained one tells two classes apart: [B, T] -> [B, classes]."""

    def __init__(self, classes: int = 2):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(SIZE, classes)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(ids)).softmax(dim=-1)


def make_optimizer(model: nn.Module, learning_rate: float = 0.01) -> torch.optim.Optimizer:
    """AdamW, with weight decay for all weights but the biases and those of layer norms."""
    no_decay = ("bias", "LayerNorm.weight")
    decayed, free = [], []
    for name, parameter in model.named_parameters():
        (free if name.endswith(no_decay) else decayed).append(parameter)
    groups = [{"params": decayed, "weight_decay": 1.0}, {"params": free, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=learning_rate)


def start(classes: int = CLASSES) -> tuple[Classifier, torch.optim.Optimizer]:
    """The pretrained model with a new head, and the optimizer of its weights."""
    model = Classifier()
    optimizer = make_optimizer(model)
    model.head = nn.Linear(SIZE, classes)
    return model, optimizer


def loss_of(model: nn.Module, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The mean cross-entropy of a batch."""
    return F.cross_entropy(model(ids), labels)


def make_data(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Texts of ten words [count, 10], at least three of them words of the text's class, and the classes [count]."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, CLASSES, (count,), generator=generator)
    ids = torch.randint(0, WORDS, (count, 10), generator=generator)
    ids[:, :3] = ids[:, :3] // CLASSES * CLASSES + labels.unsqueeze(-1)
    return ids, labels


def main() -> dict[str, float]:
    """Train for 60 steps, and measure on new texts."""
    torch.manual_seed(0)
    model, optimizer = start()
    for step in range(60):
        optimizer.zero_grad()
        loss_of(model, *make_data(32, seed=step)).backward()
        optimizer.step()
    ids, labels = make_data(500, seed=10_000)
    with torch.no_grad():
        loss, right = loss_of(model, ids, labels), model(ids).argmax(dim=-1) == labels
    norm = model.encoder.norm.weight.mean().item()
    return {"loss": loss.item(), "accuracy": right.float().mean().item(), "mean weight of the layer norm": norm}


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
