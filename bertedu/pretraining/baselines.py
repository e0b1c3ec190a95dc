"""What a pre-trained model must beat: guesses by counting, without a network.

Shapes: B batch, T tokens, V vocabulary, N masked positions. Every baseline is fitted on training text alone.
"""

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from bertedu.errors import UserError
from bertedu.model.heads import IGNORED

CHUNK = 1024  # positions whose [N, V] distributions are in memory at once
NO_TOKEN = -1  # a neighbour that is masked or outside the text


class UnigramBaseline:
    """Every token is as likely as it is frequent; one count more for each token, so that none is impossible."""

    def __init__(self, counts: np.ndarray):
        self.probabilities = (counts + 1) / (counts.sum() + len(counts))  # [V]

    @classmethod
    def fit(cls, sequences: Iterable[np.ndarray], vocab_size: int) -> Self:
        """Count the tokens of sequences of ids."""
        return cls(np.bincount(joined(sequences), minlength=vocab_size).astype(float))

    def distributions(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The same distribution for each of N positions, [N, V]; the neighbours [N] say nothing."""
        return np.broadcast_to(self.probabilities, (len(left), len(self.probabilities)))

    def evaluate(self, input_ids: np.ndarray, labels: np.ndarray, mask_token_id: int) -> dict[str, float]:
        """Accuracy and perplexity; see `evaluate_baseline`. The accuracy is that of the most frequent token at [MASK],
        and of the token that is seen at the other labelled positions.
        """
        return evaluate_baseline(self, input_ids, labels, mask_token_id)

    def constant_accuracy(self, labels: np.ndarray) -> float:
        """Accuracy of the most frequent token as the answer to every label, whatever is seen there."""
        asked = np.asarray(labels)[np.asarray(labels) != IGNORED]
        return float((asked == self.probabilities.argmax()).mean())


class NGramBaseline:
    """A word guessed from its two neighbours, as often as the three stood together in training.

    Where (left, word, right) was seen seldom, it leans on P(word | left) · P(word | right) / P(word), the
    answer if the neighbours were independent given the word; where those were seen seldom, on P(word). Each
    estimate counts the one below it as `PRIOR` sightings (Dirichlet smoothing: MacKay & Peto 1995), so every
    distribution sums to 1. A neighbour that is masked is not used.
    """

    PRIOR = 1.0

    def __init__(self, tokens: np.ndarray, vocab_size: int):
        self.vocab_size = vocab_size
        self.unigram = UnigramBaseline(np.bincount(tokens[tokens != NO_TOKEN], minlength=vocab_size).astype(float))
        self.after, self.before = self._pairs(tokens[:-1], tokens[1:]), self._pairs(tokens[1:], tokens[:-1])
        left, middle, right = tokens[:-2], tokens[1:-1], tokens[2:]
        whole = (left != NO_TOKEN) & (middle != NO_TOKEN) & (right != NO_TOKEN)
        contexts = left[whole].astype(np.int64) * vocab_size + right[whole]
        self.contexts, rows = np.unique(contexts, return_inverse=True)
        shape = (len(self.contexts), vocab_size)
        self.between = csr_array((np.ones(len(rows)), (rows, middle[whole])), shape=shape)

    @classmethod
    def fit(cls, sequences: Iterable[np.ndarray], vocab_size: int) -> Self:
        """Count neighbours inside each sequence of ids; pass [CLS] and [SEP] too if they shall be neighbours."""
        return cls(joined(sequences, NO_TOKEN), vocab_size)

    def _pairs(self, given: np.ndarray, token: np.ndarray) -> csr_array:
        """How often each token stood beside a given one: [V, V], rows for the given one."""
        whole = (given != NO_TOKEN) & (token != NO_TOKEN)
        ones = np.ones(int(whole.sum()))
        return csr_array((ones, (given[whole], token[whole])), shape=(self.vocab_size, self.vocab_size))

    def _smoothed(self, counts: csr_array, rows: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """The counts in these rows with PRIOR · prior added, as distributions [N, V]; row NO_TOKEN is the prior."""
        if not counts.shape[0]:
            return prior.copy()
        seen = counts[np.maximum(rows, 0)].toarray() * (rows != NO_TOKEN)[:, None]
        return (seen + self.PRIOR * prior) / (seen.sum(axis=1, keepdims=True) + self.PRIOR)

    def distributions(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """P(word | left, right) for N pairs of neighbours [N] (NO_TOKEN: not visible), [N, V]."""
        unigram = self.unigram.distributions(left, right)
        independent = self._smoothed(self.after, left, unigram) * self._smoothed(self.before, right, unigram) / unigram
        independent /= independent.sum(axis=1, keepdims=True)
        wanted = np.where((left == NO_TOKEN) | (right == NO_TOKEN), NO_TOKEN, left * self.vocab_size + right)
        found = np.searchsorted(self.contexts, wanted).clip(max=max(0, len(self.contexts) - 1))
        known = self.contexts[found] == wanted if len(self.contexts) else np.zeros(len(left), bool)
        return self._smoothed(self.between, np.where(known, found, NO_TOKEN), independent)

    def evaluate(self, input_ids: np.ndarray, labels: np.ndarray, mask_token_id: int) -> dict[str, float]:
        """Accuracy and perplexity; see `evaluate_baseline`."""
        return evaluate_baseline(self, input_ids, labels, mask_token_id)


def joined(sequences: Iterable[np.ndarray], between: int | None = None) -> np.ndarray:
    """All sequences in one row of int64, with `between` after each. Raises UserError where there is no token."""
    end = [] if between is None else [np.array([between])]
    rows = [row for sequence in sequences for row in (np.asarray(sequence, dtype=np.int64), *end)]
    if not sum(len(row) for row in rows[:: 1 + len(end)]):
        raise UserError("the training text of a baseline has no token: give at least one sequence that is not empty.")
    return np.concatenate(rows)


def evaluate_baseline(
    baseline: UnigramBaseline | NGramBaseline, input_ids: np.ndarray, labels: np.ndarray, mask_token_id: int
) -> dict[str, float]:
    """Accuracy and perplexity at the labelled positions of masked text.

    input_ids [B, T] is what is seen, labels [B, T] the right ids and -100 elsewhere. A labelled position that
    shows a word x was left as it is or replaced at random, both as often (Devlin et al. 2019, section 3.1):
    then x has the weight P(x) and every other word its own P / V.
    """
    input_ids, labels = np.asarray(input_ids), np.asarray(labels)
    edge = np.full((len(input_ids), 1), NO_TOKEN)
    padded = np.concatenate([edge, np.where(input_ids == mask_token_id, NO_TOKEN, input_ids), edge], axis=1)
    rows, columns = np.nonzero(labels != IGNORED)
    if not len(rows):
        raise UserError("no position of the masked text has a label: mask at least one word.")
    hits, log_likelihood = 0, 0.0
    for start in range(0, len(rows), CHUNK):
        row, column = rows[start : start + CHUNK], columns[start : start + CHUNK]
        seen, right_ids = padded[row, column + 1], labels[row, column]
        probabilities = baseline.distributions(padded[row, column], padded[row, column + 2])
        shown = np.flatnonzero(seen != NO_TOKEN)
        if len(shown):
            probabilities = probabilities.copy()
            kept = probabilities[shown, seen[shown]]
            probabilities[shown] /= probabilities.shape[1]
            probabilities[shown, seen[shown]] += kept
            probabilities[shown] /= probabilities[shown].sum(axis=1, keepdims=True)
        hits += int((probabilities.argmax(axis=1) == right_ids).sum())
        log_likelihood += float(np.log(probabilities[np.arange(len(row)), right_ids]).sum())
    return {"accuracy": hits / len(rows), "perplexity": float(np.exp(-log_likelihood / len(rows)))}


class OverlapBaseline:
    """Next sentence prediction by the words that two segments share, rare words counting more.

    The score of a pair is the cosine of its two sets of words, each word weighing its inverse document
    frequency log(segments / segments with the word); pairs above a threshold are taken for neighbours.
    """

    def __init__(self, weights: np.ndarray, threshold: float):
        self.weights, self.threshold = weights, threshold  # [V]; a cosine

    @classmethod
    def fit(
        cls, first: Sequence[np.ndarray], second: Sequence[np.ndarray], labels: np.ndarray, vocab_size: int
    ) -> Self:
        """Weights from all segments; the threshold with the best balanced accuracy. labels: 0 next, 1 not next."""
        counts = np.zeros(vocab_size)
        for segment in (*first, *second):
            counts[np.unique(segment)] += 1
        baseline = cls(np.log((len(first) + len(second) + 1) / (counts + 1)), 0.0)
        scores, is_next = baseline.scores(first, second), np.asarray(labels) == 0
        if is_next.all() or not is_next.any():
            raise UserError("the training pairs are all of one kind: give pairs with label 0 and pairs with label 1.")
        order = np.argsort(-scores, kind="stable")
        hits = np.cumsum(is_next[order]) / is_next.sum() - np.cumsum(~is_next[order]) / (~is_next).sum()
        values = scores[order]
        ends = np.append(values[1:] != values[:-1], True)  # equal scores stay on one side
        best = int(np.argmax(np.where(ends, hits, -1)))
        following = values[best + 1] if best + 1 < len(values) else values[best] - 1
        baseline.threshold = float((values[best] + following) / 2)
        return baseline

    def scores(self, first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> np.ndarray:
        """The cosine of each pair, 0 where nothing is shared."""
        scores = []
        for a, b in zip(first, second, strict=True):
            a, b = np.unique(a), np.unique(b)
            norm = np.sqrt((self.weights[a] ** 2).sum() * (self.weights[b] ** 2).sum())
            shared = np.intersect1d(a, b, assume_unique=True)
            scores.append((self.weights[shared] ** 2).sum() / norm if norm else 0.0)
        return np.array(scores)

    def evaluate(self, first: Sequence[np.ndarray], second: Sequence[np.ndarray], labels: np.ndarray) -> float:
        """Balanced accuracy: the mean of the accuracies on neighbours and on strangers; on one kind alone, of that."""
        says_next, is_next = self.scores(first, second) > self.threshold, np.asarray(labels) == 0
        kinds = [right.mean() for right in (says_next[is_next], ~says_next[~is_next]) if right.size]
        return float(sum(kinds) / max(1, len(kinds)))
