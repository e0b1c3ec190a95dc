"""Learning the pieces of a Unigram model: begin with far too many, and drop those that are missed least.

Kudo 2018, section 3.2. The seed pieces are substrings that stand in several words. Then, in turns: the
expectation-maximization algorithm (EM) gives the pieces their probabilities, and the quarter whose loss would cost the
text the least likelihood is dropped, until the vocabulary is small enough. Single characters always stay.

The numbers and a few oddities are those of the `tokenizers` library, named where they stand, so that the same text
gives the same pieces.
"""

from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np

from bertedu.errors import UserError
from bertedu.tokenization.unigram import UNKNOWN_PENALTY, Piece
from bertedu.tokenization.unigram_lattices import Lattices

LONGEST_PIECE = 16  # characters
MOST_SEEDS = 1_000_000
ROUNDS_OF_EM = 2  # between two prunings
KEPT = 0.75  # of the pieces at each pruning
SPARE = 110  # percent of the pieces that are wanted: with so many EM ends, and the last of them are cut off
LEAST_EXPECTED = 0.5  # a piece that is expected less often than this in the whole text goes
CHARACTER_STEP = 0.0001  # between the scores of characters that had no probability left
END = "\0"


def learn_pieces(word_counts: Mapping[str, int], vocab_size: int, special: Collection[str]) -> list[Piece]:
    """Pieces with log probabilities, the most probable first, from words and how often each stands in the text.

    There are at most vocab_size with the special tokens, which are not learned, even if the text has them. Raises
    UserError where nothing can be learned.
    """
    words = sorted(word for word in word_counts if word)
    if not words:
        raise UserError("there are no words to learn a vocabulary from: the lines are empty.")
    characters = sorted({character for word in words for character in word})
    if vocab_size < len(special) + len(characters):
        raise UserError(
            f"vocab_size is {vocab_size}, but the special tokens and the characters of this text already take "
            f"{len(special) + len(characters)}: ask for at least {len(special) + len(characters)}."
        )
    learning = Learning(words, np.array([word_counts[word] for word in words], dtype=float))
    learning.learn(vocab_size * SPARE // 100)
    return learning.finish(vocab_size - len(special), characters, special)


def seed_pieces(words: list[str], counts: np.ndarray) -> list[Piece]:
    """The characters, and the substrings of two to 16 characters that occur twice or more, with a first guess
    of their log probabilities.

    A substring that is always followed by the same character (or always ends a word) is left out, because the longer
    one will do. It counts once for each different word, whatever the word's count, and by its length; a character
    counts as often as it stands in the text. So it is in the reference: its suffix array is of the list of words.
    """
    characters: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for word, count in zip(words, counts.astype(int).tolist(), strict=True):
        for character in word:
            characters[character] += count
        ended = word + END
        for start in range(len(word)):
            for stop in range(start + 2, min(start + LONGEST_PIECE, len(word)) + 2):
                places[ended[start:stop]] += 1
    one_follower = {longer[:-1] for longer, count in places.items() if count == places.get(longer[:-1])}
    scored = [
        (count * len(part), part)
        for part, count in places.items()
        if count > 1 and len(part) <= LONGEST_PIECE and part[-1] != END and part not in one_follower
    ]
    ranked = sorted(((count, character) for character, count in characters.items()), reverse=True)
    ranked += sorted(scored, reverse=True)[: MOST_SEEDS - len(ranked)]
    total = np.log(sum(score for score, _ in ranked))
    return [(piece, float(np.log(score) - total)) for score, piece in ranked]


class Learning:
    """The pieces while they are learned. The piece with id 0 is the unknown, which has no probability of its own.

    pieces: V strings; scores: [V] log probabilities. `text` holds the lattices of the words, `apart` those of the
    pieces themselves (but the unknown) without the piece as a whole: how each would be written if it were gone.
    apart_ids: which piece each of these is of.
    """

    def __init__(self, words: list[str], counts: np.ndarray):
        seeds = seed_pieces(words, counts)
        self.counts = counts  # [W]
        self.pieces = ["", *(piece for piece, _ in seeds)]
        self.scores = np.array([np.nan, *(score for _, score in seeds)])
        ids = {piece: index for index, piece in enumerate(self.pieces) if index}
        self.text = Lattices(words, ids)
        self.apart = Lattices(self.pieces[1:], ids, whole=False)
        self.apart_ids: np.ndarray = np.arange(1, len(self.pieces))

    def learn(self, size: int) -> None:
        """EM and pruning in turns, until there are at most so many pieces."""
        while True:
            for _ in range(ROUNDS_OF_EM):
                self.maximize(self.text.expected_counts(self.with_unknown(), self.counts))
            if len(self.pieces) <= size:
                return
            self.prune(max(size, int(len(self.pieces) * KEPT)))

    def with_unknown(self) -> np.ndarray:
        """The scores, with that of an unknown character at index 0."""
        scores = self.scores.copy()
        scores[0] = np.nanmin(scores[1:]) - UNKNOWN_PENALTY
        return scores

    def maximize(self, expected: np.ndarray) -> None:
        """New log probabilities from expected counts. The digamma function in the log's stead makes it Bayesian and
        favours few pieces (Liang and Klein, tutorial at ACL 2007).
        """
        from scipy.special import digamma  # takes a while to load, and only learning needs it

        kept = expected >= LEAST_EXPECTED
        kept[0] = True
        total = expected[1:][kept[1:]].sum()
        self.scores = digamma(np.maximum(expected, LEAST_EXPECTED)) - digamma(total)
        self.keep(np.flatnonzero(kept))

    def keep(self, chosen: np.ndarray) -> None:
        """Keep these pieces, in this order; the unknown is the first."""
        new_ids: np.ndarray = np.full(len(self.pieces), -1, dtype=np.int32)
        new_ids[chosen] = np.arange(len(chosen))
        self.text.renumber(new_ids)
        renamed = new_ids[self.apart_ids]
        self.apart.renumber(new_ids, kept_words=renamed >= 0)
        self.apart_ids = renamed[renamed >= 0]
        self.pieces = [self.pieces[index] for index in chosen.tolist()]
        self.scores = self.scores[chosen]

    def prune(self, size: int) -> None:
        """Keep pieces that the text needs or that nothing can replace, and of the others those with the highest loss.

        The loss of a piece is how much less likely the text becomes if each of its occurrences on the best paths is
        written with the pieces of its second best segmentation.
        """
        scores = self.with_unknown()
        words, ids, _ = self.text.best_paths(scores)
        frequency = np.bincount(ids, weights=self.counts[words], minlength=len(scores))  # [V]
        total = frequency.sum()
        owners, parts, without = self.apart.best_paths(scores)
        apart = self.apart_ids
        best_alone = np.zeros(len(scores), dtype=bool)
        replaceable = np.zeros(len(scores), dtype=bool)
        best_alone[apart] = scores[apart] >= without
        replaceable[apart] = (without > -np.inf) & best_alone[apart]
        owners = apart[owners]
        # The reference divides by a sum in which the piece is replaced by as many pieces as there are in all.
        sums = np.log(total + frequency * (len(scores) - 1))
        with np.errstate(divide="ignore", invalid="ignore"):  # pieces on no path have no loss
            added = np.log(frequency[parts] + frequency[owners]) - sums[owners]
            written = np.bincount(owners, weights=np.nan_to_num(added, neginf=0.0), minlength=len(scores))
            loss = frequency / self.counts.sum() * (np.log(frequency) - np.log(total) - written)
        stays = ~replaceable & (best_alone | (frequency > 0))
        stays[0] = True
        candidates = np.flatnonzero(replaceable & (frequency > 0))
        ranked = candidates[np.argsort(-loss[candidates], kind="stable")]
        chosen = np.flatnonzero(stays)
        self.keep(np.concatenate([chosen, ranked[: max(0, size - len(chosen))]]))

    def finish(self, size: int, characters: list[str], special: Collection[str]) -> list[Piece]:
        """All characters, and the first of the other pieces, by their scores."""
        scores = dict(zip(self.pieces[1:], self.scores[1:].tolist(), strict=True))
        lowest = min(scores.values())
        lost = [character for character in characters if character not in scores]
        found = {character: scores[character] for character in characters if character in scores}
        found |= {character: lowest + index * CHARACTER_STEP for index, character in enumerate(lost)}
        for piece in self.pieces[1:]:
            if len(found) >= size:
                break
            if piece not in special:
                found.setdefault(piece, scores[piece])
        return sorted(found.items(), key=lambda piece: -piece[1])
