"""GloVe: count first which words stand near each other, then fit vectors to the logarithms of the counts.

Pennington, Socher & Manning 2014, "GloVe: Global Vectors for Word Representation", section 3, equation 8.
Shapes: N words of a text, P pairs of words that do stand near each other, V vocabulary, D size of the vectors.
"""

import torch
from torch import Tensor, nn

from bertedu.before.words import neighbours

ENOUGH = 100.0  # x_max: pairs that are counted more often than this weigh no more
POWER = 0.75  # α


def cooccurrences(words: Tensor, sentences: Tensor, vocab_size: int, window: int) -> tuple[Tensor, Tensor]:
    """Pairs of words [P, 2] and how often they stand near each other [P], 1 / distance for each time.

    words, sentences [N] from `flat`. Both orders of a pair are there, with the same count.
    """
    keys, shares = [], []
    for distance, left, right in neighbours(words, sentences, window):
        one, other = torch.cat([words[left], words[right]]), torch.cat([words[right], words[left]])
        keys.append(one * vocab_size + other)  # one number for each pair of words
        shares.append(torch.full((len(one),), 1 / distance))
    found, where = torch.cat(keys).unique(return_inverse=True)
    counts = torch.zeros(len(found)).index_add(0, where, torch.cat(shares))
    return torch.stack([found // vocab_size, found % vocab_size], dim=1), counts


def weighting(counts: Tensor) -> Tensor:
    """f(x): rare pairs, which may be chance, weigh less; frequent ones no more than 1."""
    return (counts / ENOUGH).clamp_max(1.0) ** POWER


class Glove(nn.Module):
    """A vector and a bias for each word as the first of a pair, and both again as the second."""

    def __init__(self, vocab_size: int, size: int):
        super().__init__()
        self.first, self.second = nn.Embedding(vocab_size, size), nn.Embedding(vocab_size, size)
        self.first_bias, self.second_bias = nn.Embedding(vocab_size, 1), nn.Embedding(vocab_size, 1)
        for table in (self.first, self.second, self.first_bias, self.second_bias):
            nn.init.uniform_(table.weight, -0.5 / size, 0.5 / size)

    def predicted(self, pairs: Tensor) -> Tensor:
        """What the model takes for the logarithm of the count: w·w' + b + b'. [P, 2] to [P]"""
        one, other = pairs.T
        products = (self.first(one) * self.second(other)).sum(dim=-1)
        return products + self.first_bias(one).squeeze(-1) + self.second_bias(other).squeeze(-1)

    def loss(self, pairs: Tensor, counts: Tensor) -> Tensor:
        """The mean over the pairs [P, 2] of f(x) · (predicted - log x)²; counts x [P]."""
        return (weighting(counts) * (self.predicted(pairs) - counts.log()) ** 2).mean()

    @torch.no_grad()
    def word_vectors(self) -> Tensor:
        """The vector of each word, [V, D]: the sum of both (section 4.2)."""
        return self.first.weight + self.second.weight
