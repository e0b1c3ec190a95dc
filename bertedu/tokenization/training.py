"""Learning a vocabulary from text: start from characters and merge the best pair, again and again.

"Best" has two meanings, and both are here. `frequency` takes the most frequent pair, as BPE does (Sennrich et
al. 2016, section 3.2) and as the `tokenizers` library does under the name WordPiece. `wordpiece_score` takes the
pair with the highest freq(ab) / (freq(a) · freq(b)), the score by which tutorials explain WordPiece. It is not
the rule of Schuster and Nakajima (2012, section 3), who take the unit that raises the likelihood of the text
most: the score ignores how often the pair occurs, so the rarest pairs win, however large the text is. Notebook 01
compares both with the true gain in log-likelihood.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

from bertedu.errors import UserError
from bertedu.tokenization.wordpiece import CONTINUATION

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
METHODS = ("frequency", "wordpiece_score")
ALPHABET_SIZE = 1000  # the most frequent characters only: rarer ones would fill the vocabulary and teach nothing
Pair = tuple[int, int]


def learn_vocabulary(word_counts: Mapping[str, int], vocab_size: int, method: str = "frequency") -> list[str]:
    """Learn at most vocab_size tokens from words and how often each stands in the text.

    The five special tokens come first, then the characters, then the merged pieces in the order learned. The
    same counts give the same vocabulary, whatever their order. There are fewer tokens than asked for when
    every word has become one piece. Raises UserError where nothing can be learned.
    """
    if method not in METHODS:
        raise UserError(f"method is {method!r}: choose one of {', '.join(METHODS)}.")
    if not word_counts:
        raise UserError("there are no words to learn a vocabulary from: the lines are empty.")
    alphabet = frequent_characters(word_counts)
    known = set(alphabet)
    words = [(word, count) for word, count in word_counts.items() if known.issuperset(word)]
    continuing = sorted({CONTINUATION + character for word, _ in words for character in word[1:]})
    tokens = [*SPECIAL_TOKENS, *alphabet, *continuing]
    if vocab_size < len(tokens):
        raise UserError(
            f"vocab_size is {vocab_size}, but the special tokens and the characters of this text already take "
            f"{len(tokens)}: ask for at least {len(tokens)}."
        )
    pieces = [([word[0], *(CONTINUATION + character for character in word[1:])], count) for word, count in words]
    return Merging(pieces, tokens, method, CONTINUATION).grow(vocab_size)


def frequent_characters(word_counts: Mapping[str, int]) -> list[str]:
    """The characters of the words, sorted; of more than ALPHABET_SIZE the most frequent."""
    counts: Counter[str] = Counter()
    for word, count in word_counts.items():
        for character in word:
            counts[character] += count
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    return sorted(ranked[:ALPHABET_SIZE])


class Merging:
    """Words as lists of token ids, and how often each pair of neighbours stands in them.

    Counting all pairs anew after every merge would take hours. A merge only touches the words that hold the
    pair, so the counts are kept and changed there, and the best pair waits on top of a heap.
    words: each as its first pieces, which are among the tokens, and its count; continuation: what marks a piece that
    continues a word. `merges` are the pairs that were merged, in their order.
    """

    def __init__(
        self, words: Sequence[tuple[Sequence[str], int]], tokens: Sequence[str], method: str, continuation: str
    ):
        self.tokens, self.continuation = list(tokens), continuation
        self.merges: list[tuple[str, str]] = []
        self.ids = {token: index for index, token in enumerate(tokens)}
        self.relative = method == "wordpiece_score"
        self.counts = [count for _, count in words]
        self.words = [[self.ids[piece] for piece in pieces] for pieces, _ in words]
        self.token_counts: dict[int, int] = defaultdict(int)
        self.pair_counts: dict[Pair, int] = defaultdict(int)
        self.pair_words: dict[Pair, set[int]] = defaultdict(set)  # indices of words that hold the pair, or once did
        self.token_pairs: dict[int, set[Pair]] = defaultdict(set)  # the pairs that a token is part of, or once was
        for index, (pieces, count) in enumerate(zip(self.words, self.counts, strict=True)):
            for piece in pieces:
                self.token_counts[piece] += count
            for pair in pairwise(pieces):
                self.add(pair, index)
        self.heap = [(-self.score(pair), pair) for pair in self.pair_counts]
        heapify(self.heap)

    def add(self, pair: Pair, index: int) -> None:
        """Count the pair once more in the word with this index."""
        self.pair_counts[pair] += self.counts[index]
        self.pair_words[pair].add(index)
        if self.relative:
            self.token_pairs[pair[0]].add(pair)
            self.token_pairs[pair[1]].add(pair)

    def score(self, pair: Pair) -> float:
        """The count of the pair, or the count divided by the product of its tokens' counts."""
        count = self.pair_counts[pair]
        return count / (self.token_counts[pair[0]] * self.token_counts[pair[1]]) if self.relative else count

    def best_pair(self) -> Pair | None:
        """Take the pair with the highest score now; of equals the one whose tokens were learned first."""
        while self.heap:
            negative, pair = heappop(self.heap)
            if self.pair_counts.get(pair, 0) > 0 and -negative == self.score(pair):  # else it changed since
                return pair
        return None

    def grow(self, vocab_size: int, least: int = 1) -> list[str]:
        """Merge until there are vocab_size tokens, or no pair is left that stands in the text `least` times."""
        while len(self.tokens) < vocab_size and (pair := self.best_pair()) is not None:
            if self.pair_counts[pair] < least:
                break
            first, second = self.tokens[pair[0]], self.tokens[pair[1]]
            self.merges.append((first, second))
            token = first + second.removeprefix(self.continuation)
            if token not in self.ids:  # else other parts have made the same token before
                self.ids[token] = len(self.tokens)
                self.tokens.append(token)
            self.merge(pair, self.ids[token])
        return self.tokens

    def merge(self, pair: Pair, merged: int) -> None:
        """Replace the pair by the token `merged` in every word, and keep counts and heap right."""
        changed: set[Pair] = set()
        for index in self.pair_words.pop(pair):
            changed |= self.merge_in_word(index, pair, merged)
        if self.relative:  # the two tokens are rarer now, so all their pairs score higher
            changed |= self.token_pairs[pair[0]] | self.token_pairs[pair[1]] | self.token_pairs[merged]
        changed.discard(pair)
        del self.pair_counts[pair]
        for other in changed:
            if self.pair_counts.get(other, 0) > 0:
                heappush(self.heap, (-self.score(other), other))

    def merge_in_word(self, index: int, pair: Pair, merged: int) -> set[Pair]:
        """Merge in one word. Returns the pairs whose count changed."""
        pieces, count = self.words[index], self.counts[index]
        changed: set[Pair] = set()
        position = 0
        while position < len(pieces) - 1:
            if pieces[position] == pair[0] and pieces[position + 1] == pair[1]:
                for lost, gained in neighbours(pieces, position, merged):
                    self.pair_counts[lost] -= count
                    self.add(gained, index)
                    changed.update((lost, gained))
                pieces[position : position + 2] = [merged]
                self.token_counts[pair[0]] -= count
                self.token_counts[pair[1]] -= count
                self.token_counts[merged] += count
            position += 1
        return changed


def neighbours(pieces: list[int], position: int, merged: int) -> list[tuple[Pair, Pair]]:
    """Left and right of the two pieces at position: the pair that is lost, and the pair with `merged` that comes."""
    pairs = []
    if position > 0:
        pairs.append(((pieces[position - 1], pieces[position]), (pieces[position - 1], merged)))
    if position + 2 < len(pieces):
        pairs.append(((pieces[position + 1], pieces[position + 2]), (merged, pieces[position + 2])))
    return pairs
