"""Byte-level byte-pair encoding: no text is unknown, because the smallest pieces are bytes. Built in notebook 15.

Sennrich et al. 2016, section 3.2, merge the most frequent pair of pieces again and again, and split a new word by the
same merges in the same order. Radford et al. 2019 (GPT-2), section 2.2, begin with the 256 bytes of UTF-8 in place of
characters, and let no merge cross from letters to digits, punctuation or the next word. The table of bytes and the
pattern are those of OpenAI's code.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import pairwise

from bertedu.errors import UserError, shown
from bertedu.tokenization.added_tokens import WHITE_SPACE
from bertedu.tokenization.fast import Ids, remember
from bertedu.tokenization.training import Merging

Merge = tuple[str, str]
LETTERS_END = 0x40000  # beyond these code points Unicode has no letters and no numbers


def byte_characters() -> list[str]:
    """A visible character for each byte: itself where it is visible in Latin-1, else the next one from U+0100 on.

    So the space becomes "Ġ" and the line end "Ċ", and every token can be written into a file and read by people.
    """
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in visible else chr(next(others)) for byte in range(256)]


BYTE_CHARACTERS = byte_characters()
CHARACTER_BYTES = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


def to_characters(text: str) -> str:
    """The bytes of a text in UTF-8, each as its character.

    >>> to_characters(" né")
    'ĠnÃ©'
    """
    try:
        return "".join([BYTE_CHARACTERS[byte] for byte in text.encode()])
    except UnicodeEncodeError as error:
        raise UserError(
            f"{shown(text)} has half a character, {text[error.start]!r}, which has no bytes: remove it."
        ) from error


def to_text(tokens: Iterable[str]) -> str:
    """The text that tokens stand for; bytes that are no character become "�".

    >>> to_text(["ĠnÃ", "©"])
    ' né'
    """
    data = bytearray()
    for token in tokens:
        known = all(character in CHARACTER_BYTES for character in token)
        data += bytes(CHARACTER_BYTES[character] for character in token) if known else token.encode()
    return data.decode(errors="replace")


@cache
def words_pattern() -> re.Pattern[str]:
    """What makes a word: a contraction; letters, digits or other marks, with the one space before; or white space.

    White space before a word leaves its last space to the word: (?!…) looks ahead. Letters that are younger than
    Python's own tables (Unicode 14 in Python 3.11) count as other marks.
    """
    letters, numbers, space = characters_of("L"), characters_of("N"), re.escape(WHITE_SPACE)
    return re.compile(
        f"'s|'t|'re|'ve|'m|'ll|'d| ?[{letters}]+| ?[{numbers}]+| ?[^{space}{letters}{numbers}]+"
        f"|[{space}]+(?![^{space}])|[{space}]+"
    )


def characters_of(category: str) -> str:
    """All characters of one of Unicode's categories, as the ranges of a pattern's class: "A-Za-zª…"."""
    ranges: list[list[int]] = []
    for code in range(LETTERS_END):
        if unicodedata.category(chr(code))[0] == category:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def merge_word(characters: Sequence[str], ranks: Mapping[Merge, int]) -> list[str]:
    """Split a word by its merges: the pair that was learned first is merged first, of equal ones the left one.

    A heap holds the pairs that may be merged, so that a word of a million characters takes seconds, not days.

    >>> merge_word("Ġhug", {("u", "g"): 0, ("h", "ug"): 1})
    ['Ġ', 'hug']
    """
    pieces, end = list(characters), len(characters)
    before, after = list(range(-1, end - 1)), list(range(1, end + 1))  # the neighbours' positions
    heap = [(ranks[pair], place) for place, pair in enumerate(pairwise(pieces)) if pair in ranks]
    heapify(heap)
    while heap:
        rank, left = heappop(heap)
        right = after[left]
        if right == end or ranks.get((pieces[left], pieces[right])) != rank:  # one of the two was merged since
            continue
        pieces[left] += pieces[right]
        pieces[right] = ""
        after[left] = following = after[right]
        if following < end:
            before[following] = left
        for first in (before[left], left):
            if first >= 0 and after[first] < end and (pair := (pieces[first], pieces[after[first]])) in ranks:
                heappush(heap, (ranks[pair], first))
    return [piece for piece in pieces if piece]


class MergedWords(dict[str, Ids]):
    """The ids of the pieces of every word seen so far; asking for a new word splits it."""

    def __init__(self, vocab: Mapping[str, int], ranks: Mapping[Merge, int]):
        super().__init__()
        self.vocab, self.ranks = vocab, ranks

    def __missing__(self, word: str) -> Ids:
        ids = tuple([self.vocab[piece] for piece in merge_word(to_characters(word), self.ranks)])
        remember(self, word, ids)
        return ids


def count_words(lines: Iterable[str], add_prefix_space: bool) -> Counter[str]:
    """How often each word stands in the lines; with add_prefix_space each line gets a space in front."""
    words: Counter[str] = Counter()
    for line in lines:
        words.update(words_pattern().findall(with_prefix_space(line) if add_prefix_space else line))
    return words


def with_prefix_space(text: str) -> str:
    """The text with a space in front, so that its first word is a word as any other; nothing stays nothing."""
    return text if not text or text.startswith(" ") else f" {text}"


def learn_merges(
    word_counts: Mapping[str, int], vocab_size: int, special_tokens: Sequence[str], least: int = 2
) -> tuple[list[str], list[Merge]]:
    """Learn at most vocab_size tokens from words and how often each stands in the text: the tokens, and the merges.

    The special tokens come first, then the 256 bytes, then the merged pieces in the order learned. Merging ends early
    when no pair is left that stands in the text `least` times. Raises UserError where nothing can be learned.
    """
    if not word_counts:
        raise UserError("there are no words to learn a vocabulary from: the lines are empty.")
    start = [*special_tokens, *sorted(BYTE_CHARACTERS)]
    if vocab_size < len(start):
        raise UserError(
            f"vocab_size is {vocab_size}, but the special tokens and the 256 bytes already take {len(start)}: ask for "
            f"at least {len(start)}."
        )
    words = [(to_characters(word), count) for word, count in word_counts.items()]
    merging = Merging(words, start, "frequency", continuation="")
    return merging.grow(vocab_size, least), merging.merges
