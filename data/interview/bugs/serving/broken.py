"""A service that scores film reviews: texts in, probabilities out. Random weights stand in for the trained ones."""

import torch
from torch import nn

SENTENCE = "the film was very long and the plot is dull but i liked it all not good bad funny"
WORDS = ["[PAD]", "[UNK]", *dict.fromkeys(SENTENCE.split())]
BATCH = 4


class Reviewer(nn.Module):
    """Embeddings, one layer of attention, the mean over the tokens, one logit."""

    def __init__(self, size: int = 32):
        super().__init__()
        self.embeddings = nn.Embedding(len(WORDS), size)
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(size, 1)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:  # [B, T], [B, T] -> [B]
        hidden = self.dropout(self.embeddings(ids)) * mask.unsqueeze(-1)
        scores = self.query(hidden) @ self.key(hidden).transpose(1, 2) / hidden.shape[-1] ** 0.5
        weights = scores.softmax(dim=-1)
        hidden = hidden + weights @ self.value(hidden)
        pooled = hidden.mean(dim=1)
        return self.head(pooled).squeeze(-1)


def encode(texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids with padding, and a mask that is 1 for tokens and 0 for padding, both [B, T]."""
    rows = [[WORDS.index(word) if word in WORDS else 1 for word in text.split()] for text in texts]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in rows])
    return ids, mask


def score(model: Reviewer, texts: list[str]) -> list[float]:
    """The probability that each text is positive. Batches of similar length need less padding."""
    by_length = sorted(range(len(texts)), key=lambda index: len(texts[index].split()))
    found: list[float] = []
    with torch.no_grad():
        for start in range(0, len(by_length), BATCH):
            ids, mask = encode([texts[index] for index in by_length[start : start + BATCH]])
            found += model(ids, mask).sigmoid().tolist()
    return found


REVIEWS = [
    "the film was very long and the plot was dull but i liked it all",
    "good",
    "not good not bad",
    "the plot is bad",
    "i liked the film and it was very funny and the plot was good",
    "dull film",
]


def main() -> dict[str, float]:
    """How much the scores change from one call to the next, and from alone to together."""
    torch.manual_seed(0)
    model = Reviewer()
    together, again = score(model, REVIEWS), score(model, REVIEWS)
    alone = [score(model, [review])[0] for review in REVIEWS]
    return {
        "largest change on a second call": max(abs(a - b) for a, b in zip(together, again, strict=True)),
        "largest change from alone to together": max(abs(a - b) for a, b in zip(together, alone, strict=True)),
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
