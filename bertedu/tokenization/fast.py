"""The same ids sooner: most of a text is ASCII words that have been seen before.

Python spends its time on characters, so this file works on whole chunks between spaces: a chunk that was seen
before costs one dictionary look-up, and a new one in plain ASCII is split by one regular expression instead of
the steps of `normalization.py`. Everything else goes the plain way. A test holds the ids equal.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.offsets import words_with_origins
from bertedu.tokenization.wordpiece import split_word

CHUNK = re.compile(r"\S+")
# White space to Python, but control characters to BERT, which removes them: "a\x0cb" is one word.
CONTROL_SPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
CONTROL = re.compile("[\x00-\x1f\x7f]")
ASCII_WORD = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9\s]")
LONGEST_CACHED = 40  # characters; longer chunks hardly come twice
CACHE_SIZE = 100_000  # entries; a full cache starts anew, so it never takes more than some 40 MB
Ids = tuple[int, ...]  # tuples, because the garbage collector need not look into tuples of numbers again and again


def is_plain(chunk: str) -> bool:
    """Whether the chunk is ASCII without control characters: nothing to clean, and no accents."""
    return chunk.isascii() and not CONTROL.search(chunk)


def split_chunks(text: str) -> list[str]:
    """Split at white space as BERT's cleaning sees it."""
    return CONTROL_SPACE.sub("", text).split() if CONTROL_SPACE.search(text) else text.split()


def chunk_words(chunk: str, normalization: Normalization) -> list[str]:
    """The same as `normalization.words(chunk)`."""
    if not is_plain(chunk):
        return normalization.words(chunk)
    return ASCII_WORD.findall(chunk.lower() if normalization.lowercase else chunk)


def traced_words(text: str, normalization: Normalization) -> Iterator[tuple[str, Sequence[int]]]:
    """The same as `words_with_origins(text, normalization)`."""
    if CONTROL_SPACE.search(text):
        yield from words_with_origins(text, normalization)
        return
    for match in CHUNK.finditer(text):
        chunk, start = match.group(), match.start()
        if is_plain(chunk):
            for found in ASCII_WORD.finditer(chunk.lower() if normalization.lowercase else chunk):
                yield found.group(), range(start + found.start(), start + found.end())
        else:
            for word, origins in words_with_origins(chunk, normalization):
                yield word, [start + origin for origin in origins]


class WordIds(dict[str, Ids]):
    """The ids of the pieces of every word seen so far; asking for a new word splits it."""

    def __init__(self, vocab: dict[str, int]):
        super().__init__()
        self.vocab = vocab

    def __missing__(self, word: str) -> Ids:
        ids = tuple([self.vocab[piece] for piece in split_word(word, self.vocab)])
        remember(self, word, ids)
        return ids


class ChunkIds(dict[str, Ids]):
    """The ids of every chunk between spaces seen so far; asking for a new chunk goes through its words."""

    def __init__(self, words: WordIds, normalization: Normalization):
        super().__init__()
        self.words = words
        self.normalization = normalization

    def __missing__(self, chunk: str) -> Ids:
        words = chunk_words(chunk, self.normalization)
        ids = tuple([piece for word in words for piece in self.words[word]])
        remember(self, chunk, ids)
        return ids

    def encode(self, text: str) -> list[int]:
        """The ids of a text that holds no literal special token."""
        return [piece for chunk in split_chunks(text) for piece in self[chunk]]


def remember(cache: dict[str, Ids], key: str, ids: Ids) -> None:
    """Keep the ids for the next time, within bounds."""
    if len(key) <= LONGEST_CACHED:
        if len(cache) >= CACHE_SIZE:
            cache.clear()
        cache[key] = ids


def count_words(lines: Iterable[str], normalization: Normalization) -> dict[str, int]:
    """How often each word stands in the lines; equal chunks are counted together before any is normalized."""
    chunks: Counter[str] = Counter()
    for line in lines:
        chunks.update(split_chunks(line))
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():
        for word in chunk_words(chunk, normalization):
            words[word] += count
    return words
