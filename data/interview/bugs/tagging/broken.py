"""Trains a tagger of persons (PER) and cities (LOC) on words that a tokenizer cuts into pieces."""

import torch
from torch import nn
from torch.nn import functional as F

TAGS, IGNORE = ["O", "PER", "LOC"], -100  # the cross-entropy leaves out labels of -100
NAMES, CITIES = ["annika", "bertil", "carlotta", "dorian"], ["berlin", "carthage", "dortmund", "annaba"]
OTHERS = ["yesterday", "wrote", "to", "from", "and", "a", "letter", "reached"]
PIECES = ["ann", "##ika", "##aba", "ber", "##til", "##lin", "car", "##lotta", "##thage", "dor", "##ian", "##tmund"]
VOCABULARY = ["[PAD]", "[CLS]", "[SEP]", *PIECES, *OTHERS]
Sentence = tuple[list[str], list[str]]  # words, and a tag for each


def pieces(word: str) -> list[str]:
    """The word itself where the vocabulary has it, otherwise its first piece and the rest."""
    if word in VOCABULARY:
        return [word]
    first = next(word[:cut] for cut in range(len(word), 0, -1) if word[:cut] in VOCABULARY)
    return [first, "##" + word[len(first) :]]


def encode(words: list[str], tags: list[str]) -> tuple[list[int], list[int]]:
    """Ids with [CLS] and [SEP], and as many labels: a word's tag at its first piece, IGNORE elsewhere."""
    tokens: list[str] = []
    labels: list[int] = []
    for word, tag in zip(words, tags, strict=True):
        cut = pieces(word)
        tokens += cut
        labels += [TAGS.index(tag)] + [IGNORE] * (len(cut) - 1)
    ids = [VOCABULARY.index(token) for token in ["[CLS]", *tokens, "[SEP]"]]
    return ids, labels + [IGNORE] * (len(ids) - len(labels))


def collate(sentences: list[Sentence]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and labels of a batch, filled up to the longest: both [B, T]."""
    encoded = [encode(*sentence) for sentence in sentences]
    ids = nn.utils.rnn.pad_sequence([torch.tensor(one) for one, _ in encoded], batch_first=True)
    labels = nn.utils.rnn.pad_sequence([torch.tensor(one) for _, one in encoded], batch_first=True)
    return ids, labels


class Tagger(nn.Module):
    """Logits for each token from the token and its two neighbours: [B, T] -> [B, T, 3]."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(len(VOCABULARY), 16)
        self.head = nn.Conv1d(16, len(TAGS), kernel_size=3, padding=1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embeddings(ids).transpose(1, 2)).transpose(1, 2)


def loss_of(model: nn.Module, sentences: list[Sentence]) -> torch.Tensor:
    """The mean loss of the words of a batch."""
    ids, labels = collate(sentences)
    return F.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=IGNORE)


def accuracy(model: nn.Module, sentences: list[Sentence]) -> float:
    """The share of the words whose tag is right."""
    ids, labels = collate(sentences)
    right = (model(ids).argmax(dim=-1) == labels) | (labels == IGNORE)
    return right.float().mean().item()


def names_found(model: nn.Module, sentences: list[Sentence]) -> float:
    """The share of the names and cities whose tag is predicted, by hand: one sentence after the other."""
    found = []
    for words, tags in sentences:
        predicted = model(collate([(words, tags)])[0]).argmax(dim=-1)[0, 1:].tolist()
        for word, tag in zip(words, tags, strict=True):
            found += [TAGS[predicted[0]] == tag] if tag != "O" else []
            predicted = predicted[len(pieces(word)) :]
    return sum(found) / len(found)


def make_sentences(count: int, seed: int) -> list[Sentence]:
    """Sentences of 3 to 20 words, with a name and a city in each."""
    generator = torch.Generator().manual_seed(seed)
    sentences = []
    for _ in range(count):
        draws = torch.randint(0, 1000, (22,), generator=generator).tolist()
        words = [OTHERS[draw % len(OTHERS)] for draw in draws[: 3 + draws[-1] % 18]]
        tags = ["O"] * len(words)
        for kind, names, draw in (("PER", NAMES, draws[-2]), ("LOC", CITIES, draws[-3])):
            spot = draw % (len(words) + 1)
            words.insert(spot, names[draw % 4])
            tags.insert(spot, kind)
        sentences.append((words, tags))
    return sentences


def main() -> dict[str, float]:
    """Train, and measure on new sentences."""
    torch.manual_seed(0)
    model, data, new = Tagger(), make_sentences(96, seed=1), make_sentences(100, seed=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(40):
        optimizer.zero_grad()
        loss_of(model, data[step % 3 * 32 :][:32]).backward()
        optimizer.step()
    return {"accuracy": accuracy(model, new), "names and cities found": names_found(model, new)}


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
