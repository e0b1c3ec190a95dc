"""The Unigram language model: every piece has a probability, and a word becomes its most probable pieces.

Kudo 2018 (arXiv 1804.10959), section 3.2. WordPiece takes the longest piece, again and again. Unigram compares whole
segmentations: the probability of one is the product of the probabilities of its pieces, and the best is found by the
Viterbi algorithm. Because all segmentations have a probability, it can also be summed over them, and that is how the
pieces are learned (`unigram_training.py`).
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Piece = tuple[str, float]  # a piece and its log probability
UNKNOWN_PENALTY = 10.0  # an unknown character is less probable than the rarest piece, by a factor of e^10


class Arc(NamedTuple):
    """A piece at a position of a word: it covers the characters from start to stop (not included)."""

    start: int
    stop: int
    id: int
    score: float


class Unigram:
    """Pieces with log probabilities, numbered by their position in the list; unk_id is the unknown token's number.

    >>> model = Unigram([("<unk>", 0.0), ("h", -4.0), ("u", -4.0), ("g", -4.0), ("hu", -5.0), ("ug", -3.0)], unk_id=0)
    >>> [arc.id for arc in model.best_path("hug")]
    [1, 5]
    """

    def __init__(self, pieces: Sequence[Piece], unk_id: int):
        self.pieces = list(pieces)
        self.unk_id = unk_id
        self.ids = {piece: index for index, (piece, _) in enumerate(self.pieces)}
        self.unknown_score = min(score for _, score in self.pieces) - UNKNOWN_PENALTY
        self._known = {piece: (index, self.pieces[index][1]) for piece, index in self.ids.items()}
        self._longest: dict[str, int] = {}  # the length of the longest piece that begins with a character
        for piece in self.ids:
            self._longest[piece[0]] = max(len(piece), self._longest.get(piece[0], 0))

    def arcs(self, word: str) -> Iterator[Arc]:
        """All pieces that fit somewhere, from left to right, the shorter first; where no single character fits, the
        unknown token.
        """
        for start, character in enumerate(word):
            for stop in range(start + 1, min(start + self._longest.get(character, 0), len(word)) + 1):
                if found := self._known.get(word[start:stop]):
                    yield Arc(start, stop, *found)
            if character not in self._known:
                yield Arc(start, start + 1, self.unk_id, self.unknown_score)

    def best_path(self, word: str) -> list[Arc]:
        """The most probable segmentation, by the Viterbi algorithm; of equals the one with the earlier last piece.

        The best way to a position is the best way to where its last piece starts, and that piece. So one walk from left
        to right finds the best score of every position, and the last pieces lead back.
        """
        best = [-math.inf] * len(word) + [-math.inf]
        last: list[Arc | None] = [None] * (len(word) + 1)
        best[0] = 0.0
        for arc in self.arcs(word):
            score = arc.score + best[arc.start]
            if last[arc.stop] is None or score > best[arc.stop]:
                best[arc.stop], last[arc.stop] = score, arc
        path, position = [], len(word)
        while (arc_here := last[position]) is not None:
            path.append(arc_here)
            position = arc_here.start
        return path[::-1]

    def segment(self, word: str) -> list[tuple[int, int, int]]:
        """The best path as (start, stop, id), where unknown characters that stand side by side are one token."""
        joined: list[tuple[int, int, int]] = []
        for start, stop, piece, _ in self.best_path(word):
            if piece == self.unk_id and joined and joined[-1][2] == self.unk_id:
                joined[-1] = (joined[-1][0], stop, self.ids.get(word[joined[-1][0] : stop], self.unk_id))
            else:
                joined.append((start, stop, piece))
        return joined

    def forward_backward(self, word: str) -> tuple[float, dict[int, float]]:
        """The log probability of a word over all its segmentations, and how often each piece is expected in it.

        forward[i] sums over the segmentations of the characters before position i, backward[i] over those after it.
        A piece from i to j is part of a segmentation with probability forward[i] · p(piece) · backward[j] / p(word).
        """
        arcs = list(self.arcs(word))
        forward = [0.0] + [-math.inf] * len(word)
        for arc in arcs:
            forward[arc.stop] = log_add(forward[arc.stop], forward[arc.start] + arc.score)
        backward = [-math.inf] * len(word) + [0.0]
        for arc in reversed(arcs):
            backward[arc.start] = log_add(backward[arc.start], backward[arc.stop] + arc.score)
        expected: dict[int, float] = {}
        for start, stop, piece, score in arcs:
            share = math.exp(forward[start] + score + backward[stop] - forward[-1])
            expected[piece] = expected.get(piece, 0.0) + share
        return forward[-1], expected


def log_add(first: float, second: float) -> float:
    """log(exp(first) + exp(second)), without leaving the range of floating point numbers."""
    low, high = sorted((first, second))
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
