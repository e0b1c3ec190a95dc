"""fastText: word2vec in which the vector of a word is made from the vectors of its pieces.

Bojanowski, Grave, Joulin & Mikolov 2017, "Enriching Word Vectors with Subword Information", section 3.2. So words that
are spelled alike share what they learn, and a word that training never showed has a vector too.
Shapes: P pairs, V vocabulary, G pieces of the word that has most of them, D size of the vectors.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bertedu.before.word2vec import SkipGram

SHORTEST, LONGEST = 3, 6  # letters in a piece
BUCKETS = 20_000  # the authors' program has 2 million, for the words of a whole Wikipedia


def pieces(word: str) -> list[str]:
    """All runs of 3 to 6 letters of the word between < and >, which mark where it begins and ends."""
    marked = f"<{word}>"
    lengths = range(SHORTEST, min(LONGEST, len(marked)) + 1)
    return [marked[i : i + length] for length in lengths for i in range(len(marked) - length + 1)]


def bucket(piece: str, buckets: int = BUCKETS) -> int:
    """The number under which a piece is looked up: its hash, the FNV-1a of 32 bits. Some pieces share one.

    The authors' program takes bytes above 127 for negative numbers, and so do we.
    """
    value = 2166136261
    for byte in piece.encode():
        value = (value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619 % 2**32
    return value % buckets


class FastText(SkipGram):
    """Skip-gram whose center is the mean of a vector for the word and a vector for each of its pieces.

    The paper adds them up; its program takes the mean. One table holds both: the V words, the buckets, and a last row
    of zeros that fills up `table` [V, 1 + G], in which the entries of each word stand.
    """

    table: Tensor

    def __init__(self, words: Sequence[str], size: int, buckets: int = BUCKETS):
        super().__init__(len(words), size)
        self.buckets, self.filler = buckets, len(words) + buckets
        self.centers = nn.EmbeddingBag(self.filler + 1, size, mode="mean", padding_idx=self.filler)
        nn.init.uniform_(self.centers.weight, -1 / size, 1 / size)
        rows = [[number, *self.rows_of_pieces(word)] for number, word in enumerate(words)]
        longest = max(map(len, rows))
        table = torch.tensor([row + [self.filler] * (longest - len(row)) for row in rows])
        self.register_buffer("table", table)

    def rows_of_pieces(self, word: str) -> list[int]:
        """Where the vectors of a word's pieces stand. A special token such as [MASK] has no pieces."""
        if word.startswith("[") and word.endswith("]"):
            return []
        return [self.contexts.num_embeddings + bucket(piece, self.buckets) for piece in pieces(word)]

    def center_vectors(self, words: Tensor) -> Tensor:
        """The mean of the word's own vector and those of its pieces, [P] to [P, D]."""
        return self.centers(self.table[words])

    @torch.no_grad()
    def vector(self, word: str) -> Tensor:
        """A vector for any word, from its pieces alone: [D]."""
        return self.centers.weight[self.rows_of_pieces(word)].mean(dim=0)
