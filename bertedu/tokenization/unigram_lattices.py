"""Forward-backward and Viterbi for many words at once: what `unigram.py` does for one word, as steps of numpy.

Learning the pieces of a corpus reads its 100,000 words some thirty times. All words take the same steps from left to
right, so each step is done for all of them together. A test holds the results equal to those of the plain functions.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

Groups = list[tuple[slice, np.ndarray]]  # for each position: its arcs, and where a new node begins among them


class Lattices:
    """The lattices of W words: every piece that fits somewhere is an arc between two nodes, and each word has a node
    before, between and after its characters.

    ids, source, target: int [A], the piece of each arc and its two nodes; the arcs are in the order of their targets'
    positions. For a single character there is always an arc; where no piece is left for it, its id is 0, the unknown's.
    """

    def __init__(self, words: Sequence[str], ids: Mapping[str, int], whole: bool = True):
        """whole=False leaves out the arc that is the whole word."""
        lengths = np.array([len(word) for word in words], dtype=np.int64)
        self.first = np.concatenate([[0], np.cumsum(lengths + 1)])[:-1]  # the first node of each word, [W]
        self.last = self.first + lengths
        self.nodes = int(self.last[-1]) + 1 if len(words) else 0
        longest = max(map(len, ids), default=1)
        arcs = np.array(list(arcs_of(words, ids, longest, whole)), dtype=np.int32).reshape(-1, 4)
        word, start, stop, self.ids = arcs.T
        order = np.lexsort((start, word, stop))
        self.ids, self.word = self.ids[order], word[order]
        self.start, self.stop = start[order], stop[order]
        self.prepare()

    def prepare(self) -> None:
        """Nodes and groups, from words, starts and stops."""
        self.source = self.first[self.word] + self.start
        self.target = self.first[self.word] + self.stop
        self.backwards = np.lexsort((self.stop, self.word, -self.start))
        self.forward_groups = groups(self.stop, self.target)
        self.backward_groups = groups(self.start[self.backwards], self.source[self.backwards])

    def renumber(self, new_ids: np.ndarray, kept_words: np.ndarray | None = None) -> None:
        """Give the pieces new numbers; arcs of pieces whose number is -1 go, single characters become unknown.

        kept_words, bool [W]: the other words lose their arcs.
        """
        self.ids = new_ids[self.ids]
        single = self.stop - self.start == 1
        self.ids[single & (self.ids < 0)] = 0
        keep = self.ids >= 0
        if kept_words is not None:
            keep &= kept_words[self.word]
            renamed = np.cumsum(kept_words) - 1
            self.word = renamed[self.word].astype(np.int32)
            self.first, self.last = self.first[kept_words], self.last[kept_words]
        self.ids, self.word, self.start, self.stop = (x[keep] for x in (self.ids, self.word, self.start, self.stop))
        self.prepare()

    def expected_counts(self, scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """How often each piece is expected in words that stand there so often: [V] from scores [V], counts [W]."""
        arc_scores = scores[self.ids]
        forward = np.zeros(self.nodes)
        for arcs, begins in self.forward_groups:
            target, sums = summed(forward[self.source[arcs]] + arc_scores[arcs], begins, self.target[arcs])
            forward[target] = sums
        backward = np.zeros(self.nodes)
        ids, source, target_of = self.ids[self.backwards], self.source[self.backwards], self.target[self.backwards]
        for arcs, begins in self.backward_groups:
            node, sums = summed(backward[target_of[arcs]] + scores[ids[arcs]], begins, source[arcs])
            backward[node] = sums
        total = forward[self.last]  # [W]
        shares = np.exp(forward[self.source] + arc_scores + backward[self.target] - total[self.word])
        return np.bincount(self.ids, weights=shares * counts[self.word], minlength=len(scores))

    def best_paths(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The best segmentation of every word: words [N], ids [N] of all their pieces, and the best scores [W].

        A word without a segmentation has the score -inf, and no pieces.
        """
        arc_scores = scores[self.ids]
        best = np.full(self.nodes, -np.inf)
        best[self.first] = 0.0
        via = np.full(self.nodes, -1, dtype=np.int64)
        for arcs, begins in self.forward_groups:
            values = best[self.source[arcs]] + arc_scores[arcs]
            highest = np.maximum.reduceat(values, begins)
            sizes = np.diff(np.append(begins, len(values)))
            winners = np.flatnonzero(values == np.repeat(highest, sizes))
            owner = np.repeat(np.arange(len(begins)), sizes)[winners]
            winners = winners[np.append(True, owner[1:] != owner[:-1])]  # of equals the first
            node = self.target[arcs][begins]
            best[node], via[node] = highest, winners + arcs.start
        words, position = np.arange(len(self.first)), self.last.copy()
        found_words, found_ids = [], []
        while len(words := words[via[position[words]] >= 0]):
            arc = via[position[words]]
            found_words.append(words)
            found_ids.append(self.ids[arc])
            position[words] = self.source[arc]
        empty = [np.empty(0, dtype=np.int64)]
        return np.concatenate(found_words or empty), np.concatenate(found_ids or empty), best[self.last]


def arcs_of(
    words: Sequence[str], ids: Mapping[str, int], longest: int, whole: bool
) -> Iterator[tuple[int, int, int, int]]:
    """Word, start, stop and piece of every arc."""
    for index, word in enumerate(words):
        length = len(word)
        for start in range(length):
            if whole or length > 1:
                yield index, start, start + 1, ids.get(word[start], 0)
            for stop in range(start + 2, min(start + longest, length) + 1):
                if (piece := ids.get(word[start:stop])) is not None and (whole or stop - start < length):
                    yield index, start, stop, piece


def groups(positions: np.ndarray, nodes: np.ndarray) -> Groups:
    """Cut sorted arcs where the position changes, and note where the node changes."""
    edges = [0, *(np.flatnonzero(np.diff(positions)) + 1).tolist(), len(positions)]
    cut = [slice(first, last) for first, last in pairwise(edges) if last > first]
    return [(part, np.flatnonzero(np.append(True, np.diff(nodes[part]) != 0))) for part in cut]


def summed(values: np.ndarray, begins: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nodes, and the log of the sum of the exponentials of their values."""
    highest = np.maximum.reduceat(values, begins)
    sizes = np.diff(np.append(begins, len(values)))
    return nodes[begins], highest + np.log(np.add.reduceat(np.exp(values - np.repeat(highest, sizes)), begins))
