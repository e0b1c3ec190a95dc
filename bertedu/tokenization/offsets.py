"""Where each normalized character came from, so that every token can point back into the original text.

Question answering and tagging need it: the answer is a span of the text that was asked, not of its lower-case copy.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from bertedu.tokenization.normalization import (
    Normalization,
    clean,
    is_chinese,
    is_punctuation,
)

Traced = tuple[str, int]  # a character, and the index in the original text that it came from


def decompose(characters: Iterable[Traced]) -> Iterator[Traced]:
    """Unicode's form NFD, character by character.

    A base letter is followed by its marks in the canonical order, which may differ from the order in the text. Like the
    reference, count originals in the order in which their first parts come out.
    """
    originals, parts = decomposed_parts(characters)
    return originals_of(parts, originals)


def compose(characters: Iterable[Traced]) -> Iterator[Traced]:
    """Unicode's form NFC, character by character: decomposed, and each mark put back on its letter where there is one
    character for both. It comes from where the first of its parts came from.
    """
    originals, parts = decomposed_parts(characters)
    found: list[tuple[str, int]] = []
    letter, blocking = -1, 0  # where the last character that takes marks is, and the class of the last mark after it
    for part, opens in parts:
        mark = unicodedata.combining(part)
        adjacent = letter == len(found) - 1
        if letter >= 0 and (adjacent or blocking < mark):
            joined = unicodedata.normalize("NFC", found[letter][0] + part)
            if len(joined) == 1:
                found[letter] = (joined, found[letter][1] + opens)
                continue
        found.append((part, opens))
        letter, blocking = (letter, mark) if mark else (len(found) - 1, 0)
    return originals_of(found, originals)


def decomposed_parts(characters: Iterable[Traced]) -> tuple[list[int], list[tuple[str, int]]]:
    """Where each character came from; and its parts, each with how many original characters it opens, 1 or 0."""
    originals: list[int] = []
    parts: list[tuple[str, int]] = []
    for character, origin in characters:
        originals.append(origin)
        parts += [(part, int(not index)) for index, part in enumerate(unicodedata.normalize("NFD", character))]
    return originals, list(in_canonical_order(parts))


def originals_of(parts: Iterable[tuple[str, int]], originals: Sequence[int]) -> Iterator[Traced]:
    """Each part with the first of the originals that it opens; one that opens none belongs to the one before."""
    opened = 0
    for part, opens in parts:
        yield part, originals[opened if opens else opened - 1]
        opened += opens


def in_canonical_order(parts: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Sort each run of combining marks by combining class, equal classes staying in their order."""
    marks: list[tuple[str, int]] = []
    for part in parts:
        if unicodedata.combining(part[0]):
            marks.append(part)
        else:
            yield from sorted(marks, key=lambda mark: unicodedata.combining(mark[0]))
            marks = []
            yield part
    yield from sorted(marks, key=lambda mark: unicodedata.combining(mark[0]))


def normalize_traced(text: str, normalization: Normalization) -> list[Traced]:
    """`normalization.normalize(text)` with the index in `text` that each character came from."""
    characters = [(cleaned, index) for index, character in enumerate(text) for cleaned in clean(character)]
    if normalization.tokenize_chinese_chars:
        characters = [(spaced, index) for c, index in characters for spaced in (f" {c} " if is_chinese(c) else c)]
    if normalization.strips_accents:
        characters = [(c, index) for c, index in decompose(characters) if unicodedata.category(c) != "Mn"]
    if normalization.lowercase:
        characters = [(lowered, index) for c, index in characters for lowered in c.lower()]
    return characters


def words_with_origins(text: str, normalization: Normalization) -> Iterator[tuple[str, list[int]]]:
    """`normalization.words(text)`, each word with the index in `text` of each of its characters."""
    yield from split_traced(normalize_traced(text, normalization))


def split_traced(characters: Iterable[Traced]) -> Iterator[tuple[str, list[int]]]:
    """The words of normalized characters, split as `normalization.split_words` does."""
    word = ""
    origins: list[int] = []
    for character, origin in [*characters, (" ", -1)]:
        apart = character.isspace() or is_punctuation(character)
        if apart and word:
            yield word, origins
            word, origins = "", []
        if not apart:
            word += character
            origins.append(origin)
        elif not character.isspace():
            yield character, [origin]
