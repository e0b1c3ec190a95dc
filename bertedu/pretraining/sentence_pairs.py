"""Pairs of segments for next sentence prediction, made document by document as in the published code.

Devlin et al. 2019, appendix A.2, and google-research/bert (`create_instances_from_document`). A segment is a
stretch of one document, usually several sentences. Built by hand in notebook 07.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

IS_NEXT, NOT_NEXT = 0, 1
Stretch = tuple[int, int]  # start and stop in a sequence of tokens
Truncate = Callable[[Stretch, Stretch, int, random.Random], tuple[Stretch, Stretch]]


@dataclass(frozen=True)
class TokenizedText:
    """A corpus as ids in one long row, with marks where sentences and documents start.

    tokens [N] holds ids without special tokens; sentence i is tokens[sentences[i] : sentences[i + 1]];
    document j is the sentences documents[j] up to documents[j + 1]; sources[j] is where document j is from.
    """

    tokens: np.ndarray
    sentences: list[int]
    documents: list[int]
    sources: list[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two segments, each a stretch (start, stop) of the tokens, and whether the second follows the first."""

    first: Stretch
    second: Stretch
    label: int  # IS_NEXT or NOT_NEXT

    def __len__(self) -> int:
        """Tokens of both segments, without special tokens."""
        return self.first[1] - self.first[0] + self.second[1] - self.second[0]


def truncate(first: Stretch, second: Stretch, most: int, rng: random.Random) -> tuple[Stretch, Stretch]:
    """Take tokens off the longer segment, at its front or its end by the toss of a coin, until both fit."""
    (a, b), (c, d) = first, second
    while (b - a) + (d - c) > most:
        front = rng.random() < 0.5
        if b - a > d - c:
            a, b = (a + 1, b) if front else (a, b - 1)
        else:
            c, d = (c + 1, d) if front else (c, d - 1)
    return (a, b), (c, d)


def chunk_end(marks: list[int], start: int, end: int, target: int) -> int:
    """The first sentence after `start` at which `target` tokens are reached, or the document's end."""
    stop = start + 1
    while stop < end and marks[stop] - marks[start] < target:
        stop += 1
    return stop


class PairMaker:
    """Makes the pairs of one pass over a text, with segments packed to max_length tokens, special tokens included.

    With same_source, the other document of a NotNext pair comes from the same source where there is one,
    so that the topic gives less away. truncate shortens a pair that is too long.
    """

    def __init__(
        self,
        text: TokenizedText,
        max_length: int,
        short_share: float = 0.1,
        same_source: bool = False,
        special_tokens: int = 3,
        truncate: Truncate = truncate,
    ):
        self.text, self.most, self.short_share = text, max_length - special_tokens, short_share
        self.truncate = truncate
        self.same_source, self.all_documents = same_source, range(len(text.sources))
        self.others: dict[str, list[int]] = defaultdict(list)
        for document, source in enumerate(text.sources):
            self.others[source].append(document)

    def next_sentence_pairs(self, rng: random.Random) -> list[Pair]:
        """A coin decides whether a pair continues its document or goes on in a random one. A single sentence cannot
        be split and always goes on in a random one, so more than half are NOT_NEXT. 10 % of documents are short."""
        return [pair for document in range(len(self.text.sources)) for pair in self._from_document(document, rng)]

    def _target(self, rng: random.Random) -> int:
        return rng.randint(2, self.most) if rng.random() < self.short_share else self.most

    def _from_document(self, document: int, rng: random.Random) -> Iterator[Pair]:
        marks, target = self.text.sentences, self._target(rng)
        start, end = self.text.documents[document], self.text.documents[document + 1]
        while start < end:
            stop = chunk_end(marks, start, end, target)
            middle = rng.randint(start + 1, stop - 1) if stop - start > 1 else stop
            first = marks[start], marks[middle]
            if middle == stop or rng.random() < 0.5:
                second, label = self._random_segment(document, target - (first[1] - first[0]), rng), NOT_NEXT
                start = middle  # the sentences that were not used come again
            else:
                second, label = (marks[middle], marks[stop]), IS_NEXT
                start = stop
            yield Pair(*self.truncate(first, second, self.most, rng), label)

    def _random_segment(self, document: int, target: int, rng: random.Random) -> tuple[int, int]:
        """At least one sentence, up to about `target` tokens, from a random position in another document."""
        others: Sequence[int] = self.others[self.text.sources[document]] if self.same_source else self.all_documents
        if len(others) == 1:
            others = self.all_documents
        other = rng.choice(others)
        while other == document and len(others) > 1:  # a text of one document has no other
            other = rng.choice(others)
        marks, end = self.text.sentences, self.text.documents[other + 1]
        start = rng.randint(self.text.documents[other], end - 1)
        return marks[start], marks[chunk_end(marks, start, end, target)]

    def sentence_order_pairs(self, rng: random.Random) -> list[Pair]:
        """ALBERT's pairs (Lan et al. 2020, section 3.1): neighbours, about half of them swapped (label 1)."""
        pairs, marks = [], self.text.sentences
        for document in range(len(self.text.sources)):
            stop, end, target = self.text.documents[document], self.text.documents[document + 1], self._target(rng)
            while (start := stop) < end:
                stop = chunk_end(marks, start, end, target)
                if stop - start < 2:
                    continue  # one sentence has no order
                middle = rng.randint(start + 1, stop - 1)
                segments = (marks[start], marks[middle]), (marks[middle], marks[stop])
                label = int(rng.random() < 0.5)
                first, second = segments[::-1] if label else segments
                pairs.append(Pair(*self.truncate(first, second, self.most, rng), label))
        return pairs
