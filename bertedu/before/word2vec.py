"""word2vec: a word is known by the words around it. Skip-gram with negative sampling.

Mikolov, Chen, Corrado & Dean 2013, "Efficient Estimation of Word Representations in Vector Space"; the loss is equation
4 of Mikolov, Sutskever et al. 2013, section 2.2. Shapes: P pairs, K negatives, V vocabulary, D size of the vectors.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid


class SkipGram(nn.Module):
    """Two vectors for each word: one as the center of a window, one as a word around it.

    As in the authors' program, the centers start small and at random, the contexts at zero.
    """

    centers: nn.Embedding | nn.EmbeddingBag

    def __init__(self, vocab_size: int, size: int):
        super().__init__()
        self.centers = nn.Embedding(vocab_size, size)
        self.contexts = nn.Embedding(vocab_size, size)
        nn.init.uniform_(self.centers.weight, -0.5 / size, 0.5 / size)
        nn.init.zeros_(self.contexts.weight)

    def center_vectors(self, words: Tensor) -> Tensor:
        """The vectors of words in the center, [P] to [P, D]."""
        return self.centers(words)

    def loss(self, centers: Tensor, contexts: Tensor, negatives: Tensor) -> Tensor:
        """The mean over P pairs of -log σ(u·v) - Σ log σ(-n·v). centers, contexts [P], negatives [P, K].

        v is the center's vector, u that of the word that did stand beside it, n those of K words that were drawn. A
        negative that happens to be the context is left out.
        """
        center = self.center_vectors(centers)  # [P, D]
        positive = (center * self.contexts(contexts)).sum(dim=-1)  # [P]
        negative = torch.einsum("pd,pkd->pk", center, self.contexts(negatives))
        drawn = negatives != contexts[:, None]
        return -(logsigmoid(positive) + (logsigmoid(-negative) * drawn).sum(dim=-1)).mean()

    @torch.no_grad()
    def word_vectors(self) -> Tensor:
        """The vector of each word, [V, D]: the one in the center. The contexts are thrown away."""
        return self.center_vectors(torch.arange(self.contexts.num_embeddings, device=self.contexts.weight.device))


def draw_negatives(noise: Tensor, pairs: int, count: int, generator: torch.Generator) -> Tensor:
    """Words from the noise distribution [V], `count` for each pair: [P, K]."""
    return torch.multinomial(noise, pairs * count, replacement=True, generator=generator).view(pairs, count)
