"""Word vectors by counting: which words stand near each other, as a matrix, and its strongest directions.

Positive pointwise mutual information and a truncated singular value decomposition: Levy & Goldberg 2014, "Neural word
embedding as implicit matrix factorization", sections 3 and 4. Contexts are smoothed and singular values have the power
½, as in Levy, Goldberg & Dagan 2015, section 3; a pair counts 1 / distance, as in GloVe (Pennington et al. 2014).
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

WINDOW = 3  # tokens to each side
SMALL = 1024  # Lanczos' method finds other directions each time where there are fewer than it looks for
NOISE = 1e-6  # of the longest vector: rounding leaves as much where a text says nothing of an id
SMOOTHING = 0.75  # a power of the contexts' frequencies: rare contexts would seem to tell too much


def cooccurrences(tokens: np.ndarray, vocab_size: int, window: int = WINDOW) -> csr_matrix:
    """How often each id stands near each other id, 1 / distance for each time: ids [N] to a matrix [V, V]."""
    counts = csr_matrix((vocab_size, vocab_size))
    for distance in range(1, window + 1):
        before, after = tokens[:-distance], tokens[distance:]
        weights = np.full(len(before), 1 / distance)
        pairs = csr_matrix((weights, (before, after)), shape=counts.shape)
        counts = counts + pairs + pairs.T
    return counts


def positive_mutual_information(counts: csr_matrix) -> csr_matrix:
    """log P(a, b) / (P(a) · P(b)) for each pair of ids, where it is above 0: [V, V] to [V, V]."""
    totals = np.asarray(counts.sum(axis=1)).ravel()
    contexts = totals**SMOOTHING / (totals**SMOOTHING).sum()
    pairs = counts.tocoo()
    information = np.log(pairs.data / (totals[pairs.row] * contexts[pairs.col]))
    positive = information > 0
    return csr_matrix((information[positive], (pairs.row[positive], pairs.col[positive])), shape=counts.shape)


def strongest_directions(matrix: csr_matrix, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The singular vectors [V, rank] and values [rank] of the strongest directions."""
    if matrix.shape[0] > SMALL:
        vectors, strengths, _ = svds(matrix, k=rank, random_state=0)
    else:
        vectors, strengths, _ = np.linalg.svd(matrix.toarray())
        vectors, strengths = vectors[:, :rank], strengths[:rank]
    return vectors, strengths


def word_vectors(tokens: np.ndarray, vocab_size: int, size: int) -> np.ndarray:
    """A vector of unit length for each id, zeros for ids that the text does not hold: ids [N] to [V, size].

    Words that are used alike have vectors that point the same way.
    """
    information = positive_mutual_information(cooccurrences(tokens, vocab_size))
    vectors, strengths = strongest_directions(information, min(size, vocab_size - 1))
    vectors = np.pad(vectors * np.sqrt(strengths), ((0, 0), (0, max(0, size - len(strengths)))))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > NOISE * lengths.max())
