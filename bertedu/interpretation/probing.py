"""What can be read off a layer's vectors: probes, and the control that shows what the probe itself can learn.

A probe is a small classifier on frozen vectors. That it succeeds may be its own doing: it could learn by heart which
word has which label. So the same probe is trained on labels that were drawn at random for each word, and what it does
better on the real ones is its selectivity (Hewitt & Liang 2019, section 2). Layer by layer: Tenney et al. 2019.
Shapes: N words, L layers (with the embeddings L + 1), D hidden size.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from bertedu.errors import UserError
from bertedu.inference import LanguageModel, span_vectors
from bertedu.interpretation.contexts import check_labels
from bertedu.model import BertModel
from bertedu.tokenization import Tokenizer

TaggedSentence = Sequence[tuple[str, str]]  # words with their labels


@dataclass(frozen=True)
class TaggedVectors:
    """Words in sentences: the vectors of each in every layer, the word itself, and its label."""

    vectors: Tensor  # [N, L + 1, D], the embeddings first
    words: list[str]
    labels: list[str]


@dataclass(frozen=True)
class LayerScore:
    """How well a probe reads one layer: accuracies on words of the test sentences, from 0 to 1."""

    layer: int  # 0: the embeddings
    accuracy: float
    control_accuracy: float

    @property
    def selectivity(self) -> float:
        """What the probe does better on the real labels than on the random control labels."""
        return self.accuracy - self.control_accuracy


class Probe:
    """Multinomial logistic regression on standardised vectors: each entry minus its mean, by its standard deviation.

    scikit-learn's, with its usual L2 penalty (C = 1).
    """

    def __init__(self) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))

    def fit(self, vectors: Tensor, labels: Sequence) -> "Probe":
        """Learn labels from vectors [N, D]. Raises UserError for fewer than two different labels."""
        check_labels(vectors, labels)
        if len(set(labels)) < 2:
            raise UserError(f"a probe tells labels apart, and there are {len(set(labels))}: give words of two or more.")
        self.classifier.fit(as_numbers(vectors), list(labels))
        return self

    def predict(self, vectors: Tensor) -> list:
        """The likeliest label for each vector of [N, D]."""
        return self.classifier.predict(as_numbers(vectors)).tolist()

    def accuracy(self, vectors: Tensor, labels: Sequence) -> float:
        """The share of vectors [N, D] whose label is guessed."""
        check_labels(vectors, labels)
        return float(np.mean([guess == label for guess, label in zip(self.predict(vectors), labels, strict=True)]))


def as_numbers(vectors: Tensor) -> np.ndarray:
    """Vectors as scikit-learn takes them."""
    return vectors.detach().cpu().double().numpy()


def control_labels(words: Sequence[str], number_of_labels: int, seed: int = 0) -> list[int]:
    """A label from 0 to number_of_labels - 1 for each word, drawn at random once for each word type (section 2).

    The same word has the same label wherever it stands, in training and test, upper and lower case alike, whatever
    other words there are.
    """
    if number_of_labels < 2:
        raise UserError(f"number_of_labels is {number_of_labels}: a control needs at least 2.")
    return [random.Random(f"{seed} {word.lower()}").randrange(number_of_labels) for word in words]


def tagged_vectors(
    model: LanguageModel | BertModel, tokenizer: Tokenizer, sentences: Sequence[TaggedSentence]
) -> TaggedVectors:
    """The vectors of all words of tagged sentences; a word's vector is the mean over its pieces.

    Raises UserError for no sentences, and for a sentence that is too long for the model.
    """
    texts, spans = [], []
    for sentence in sentences:
        texts.append(" ".join(word for word, _ in sentence))
        ends = np.cumsum([len(word) + 1 for word, _ in sentence]) - 1
        spans.append([(int(end) - len(word), int(end)) for end, (word, _) in zip(ends, sentence, strict=True)])
    pairs = [pair for sentence in sentences for pair in sentence]
    vectors = span_vectors(model, tokenizer, texts, spans)
    return TaggedVectors(vectors, [word for word, _ in pairs], [label for _, label in pairs])


def probe_layers(train: TaggedVectors, test: TaggedVectors, seed: int = 0) -> list[LayerScore]:
    """Train a probe and its control on every layer, the embeddings first, and score both on the test words.

    The control has as many labels as the real task has in training. seed: for the random control labels.
    """
    number_of_labels = len(set(train.labels))
    controls = [control_labels(part.words, number_of_labels, seed) for part in (train, test)]
    scores = []
    for layer in range(train.vectors.size(1)):
        known, asked = train.vectors[:, layer], test.vectors[:, layer]
        accuracy = Probe().fit(known, train.labels).accuracy(asked, test.labels)
        control = Probe().fit(known, controls[0]).accuracy(asked, controls[1])
        scores.append(LayerScore(layer, accuracy, control))
    return scores


def majority_accuracy(train: TaggedVectors, test: TaggedVectors) -> float:
    """What always guessing the commonest training label gets: the floor under every probe."""
    commonest = max(sorted(set(train.labels)), key=train.labels.count)
    return float(np.mean([label == commonest for label in test.labels]))
