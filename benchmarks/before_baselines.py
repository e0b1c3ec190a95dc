"""What the five questions of before.py are worth without a trained model: counting, bags of words, n-grams, letters."""

from collections.abc import Callable

import numpy as np
import torch
from before_questions import (
    Text,
    agrees,
    categories,
    features,
    fills,
    frozen,
    neighbours_alike,
    senses,
    unseen_words,
)
from torch import Tensor
from torch.nn.functional import one_hot

from bertedu.before.asking import Asked
from bertedu.before.fasttext import pieces
from bertedu.before.training import FIRST_WORD
from bertedu.before.words import neighbours
from bertedu.pretraining.baselines import NGramBaseline
from bertedu.pretraining.word_vectors import word_vectors

SIZE = 64  # numbers of a vector, as in the models


class Counting(Asked):
    """No training: vectors by counting (PMI and its strongest directions), gaps by the bag of all words around.

    A word's score is log p(word) + Σ log p(context | word), from counts within five words, smoothed.
    """

    def __init__(self, text: Text):
        self.vectors = torch.from_numpy(word_vectors(text.words.numpy(), len(text.counts), SIZE)).float()
        counts = torch.zeros(len(text.counts), len(text.counts))
        for _, left, right in neighbours(text.words, text.numbers, 5):
            for one, other in ((left, right), (right, left)):
                counts.index_put_((text.words[one], text.words[other]), torch.ones(len(left)), accumulate=True)
        shares = (text.counts + 1) / (text.counts.sum() + len(text.counts))
        self.given = ((counts + shares) / (counts.sum(dim=1, keepdim=True) + 1)).log()  # [word, context]
        self.frequency = shares.log()

    def layers(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        return [self.vectors[ids]]

    def gap(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        bags = torch.zeros(len(ids), len(self.frequency)).scatter_add(1, ids, (ids >= FIRST_WORD).float())
        return self.frequency + bags @ self.given.T


class Bag(Asked):
    """Bags of words: each word is a direction of its own. Gaps get the most frequent word."""

    def __init__(self, text: Text):
        self.counts = text.counts

    def layers(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        return [one_hot(ids, len(self.counts)).float()]

    def gap(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        return self.counts.float().expand(len(ids), -1)


def by_both_neighbours(text: Text) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """The n-gram on both sides of the gap, which the package's report uses as a baseline."""
    rows = [row[row != 0].numpy() for row in text.ids]
    model = NGramBaseline.fit(rows, len(text.counts))

    def gap(ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        each = torch.arange(len(ids))
        return torch.from_numpy(model.distributions(ids[each, at - 1].numpy(), ids[each, at + 1].numpy()))

    return gap


def chance(text: Text) -> float:
    """How often two random words of the tables share a column."""
    columns = list(categories(text).values())
    alike = sum(bool(one & other) for i, one in enumerate(columns) for other in columns[:i])
    return round(2 * alike / (len(columns) * (len(columns) - 1)), 4)


def by_letters(text: Text) -> dict[str, float]:
    """Unseen words by the pieces that they have in common with others, with no training."""
    names = text.tokenizer.convert_ids_to_tokens(list(range(len(text.counts))))
    every = {piece: i for i, piece in enumerate(sorted({p for name in names for p in pieces(name)}))}

    def vector(word: str) -> Tensor:
        return torch.zeros(len(every)).index_fill(0, torch.tensor([every[p] for p in pieces(word) if p in every]), 1.0)

    return unseen_words(text, vector, torch.stack([vector(name) for name in names]))


def baselines(text: Text, seeds: int) -> dict[str, dict[str, float]]:
    """What the questions are worth without a model."""
    counting, bag = Counting(text), Bag(text)
    ngram = by_both_neighbours(text)
    per_seed = {name: [frozen(text, lambda s, a=a: features(text, a, s), seed) for seed in range(seeds)]
                for name, a in (("counting", counting), ("bag of words", bag))}  # fmt: skip
    means = {name: {key: round(float(np.mean([one[key] for one in found])), 4) for key in found[0]}
             for name, found in per_seed.items()}  # fmt: skip
    gaps_filled = {f"agreement, {count} between": agrees(text, counting.gap, count) for count in range(4)}
    return {
        "chance": {"neighbours": chance(text), **{f"agreement, {count} between": 0.5 for count in range(4)}},
        "most frequent": fills(text, bag.gap),
        "counting": {"neighbours": neighbours_alike(text, counting.vectors), **senses(text, counting),
                     **gaps_filled, **fills(text, counting.gap), **means["counting"]},
        "bag of words": {**senses(text, bag), **means["bag of words"]},
        "n-gram on both sides": {**{f"agreement, {count} between": agrees(text, ngram, count) for count in range(4)},
                                 **fills(text, ngram)},
        "letters": by_letters(text),
    }  # fmt: skip
