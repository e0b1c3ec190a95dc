"""Embeddings that begin as word vectors by counting, with a part that is random."""

import math

import numpy as np
import torch
from torch import Tensor

from bertedu.pretraining.word_vectors import word_vectors

RANDOM_SHARE = 0.3  # of a vector's squared length: words that are used alike stay apart from equal words


def partly_counted(tokens: np.ndarray, vocab_size: int, size: int) -> Tensor:
    """A vector for each id: ids [N] of the training text to [V, size].

    Those that the text holds are about of unit length, the others (such as [MASK]) of length 0.55.
    """
    counted = torch.from_numpy(word_vectors(tokens, vocab_size, size)).float()
    turned = counted @ orthogonal(size, size)  # no entry is the strongest direction
    drawn = torch.randn(vocab_size, size) / math.sqrt(size)
    return math.sqrt(1 - RANDOM_SHARE) * turned + math.sqrt(RANDOM_SHARE) * drawn


def orthogonal(rows: int, columns: int) -> Tensor:
    """A random matrix [rows, columns] that keeps lengths as far as its shape lets it."""
    return torch.nn.init.orthogonal_(torch.empty(rows, columns))
