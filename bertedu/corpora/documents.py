"""What every corpus hands over: documents made of sentences, some for training, some held out."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bertedu.segmentation import spaced_words


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences in their order, and where they come from (a package, a topic, a file)."""

    sentences: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class FactProbe:
    """A sentence with one [MASK] and the one word that makes it true.

    written: the answer as the text has it, with its capital letters; "" where that is the same.
    """

    sentence: str
    answer: str
    written: str = ""


@dataclass(frozen=True, slots=True)
class SenseExample:
    """A sentence in which `word` (once, lower case) is used in one of its senses."""

    sentence: str
    word: str
    sense: str


@dataclass(frozen=True)
class Corpus:
    """Text for one pre-training run. `heldout` maps the name of each held-out set to its documents.

    `validation` is looked at while training, `heldout` once at the end. `notes` say what a reader of
    the numbers must know about the text.
    """

    name: str
    train: list[Document]
    validation: list[Document]
    heldout: dict[str, list[Document]]
    fact_probes: list[FactProbe] = field(default_factory=list)
    sense_reference: list[SenseExample] = field(default_factory=list)
    sense_heldout: list[SenseExample] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def train_sentences(self) -> Iterable[str]:
        """Every training sentence, in order: what a vocabulary is learned from."""
        return (sentence for document in self.train for sentence in document.sentences)


def split_documents(documents: Sequence[Document], validation: float = 0.01, heldout: float = 0.02):
    """Split into (train, validation, held out) by a hash of the text: the same text always lands on the same side."""
    parts: tuple[list[Document], list[Document], list[Document]] = ([], [], [])
    for document in documents:
        digest = hashlib.sha256("\n".join(document.sentences).encode()).digest()
        share = int.from_bytes(digest[:8], "big") / 2**64
        parts[1 if share < validation else 2 if share < validation + heldout else 0].append(document)
    return parts


def shared_ngrams(train: Iterable[Document], heldout: Iterable[Document], n: int = 8) -> float:
    """The share of the held-out runs of n words that also stand in the training text: how much can be copied."""

    def runs(document: Document) -> list[int]:
        words = spaced_words(" ".join(document.sentences).lower())
        return [hash(tuple(words[i : i + n])) for i in range(len(words) - n + 1)]

    looked_for = [run for document in heldout for run in runs(document)]
    wanted = set(looked_for)
    found = {run for document in train for run in runs(document) if run in wanted}
    return sum(run in found for run in looked_for) / max(1, len(looked_for))
