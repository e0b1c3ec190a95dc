"""SentencePiece's table of characters: what a published checkpoint does to its text before the pieces are looked up.

Kudo and Richardson 2018 (arXiv 1808.06226), section 3.4: the rules of a normalization (Unicode's NFKC and a few more
for white space and control characters, "nmt_nfkc") are compiled into a trie, and the trie is stored in the model, so
that every program normalizes in the same way. Here it is read and used as the `tokenizers` library does.
"""

import unicodedata
from array import array
from functools import lru_cache

from bertedu.errors import UserError

LONGEST_LOOKED_UP = 5  # bytes: a longer grapheme is looked up character by character
# What Unicode's rules for graphemes (UAX 29) say beyond the categories of characters.
ATTACHES = "\u0e33\u0eb3\u200c\u200d\uff9e\uff9f" + "".join(
    map(chr, [*range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)])
)
STANDS_ALONE = "\u102b\u102c\u1038\u1062\u1063\u1064\u1083\u108f\u1a61\u1a63\u1a64\uaa7b\uaa7d\U00011720\U00011721" + (
    "".join(map(chr, [*range(0x1067, 0x106E), *range(0x1087, 0x108D), *range(0x109A, 0x109D)]))
)
PREPENDED = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd"


class CharsMap:
    """precompiled_charsmap: the size of a trie in bytes, the trie (a double array), and the texts it points to.

    Each unit of the double array is a number of 32 bits: the byte that leads here, where its children are, whether a
    text ends here. Raises UserError for bytes that are none. source names where they come from.
    """

    def __init__(self, data: bytes, source: str = "precompiled_charsmap"):
        size = int.from_bytes(data[:4], "little")
        if size % 4 or not 0 < size <= len(data) - 4:
            raise UserError(f"{source}: the table of characters is damaged: fetch the tokenizer's files again.")
        self.data = data
        self._units = array("I")
        self._units.frombytes(data[4 : 4 + size])
        self._texts = data[4 + size :]
        self._found: dict[str, str | None] = {}

    def __call__(self, text: str) -> str | None:
        """The replacement of the shortest part at the beginning of the text that has one; None: no part has."""
        if text not in self._found:
            self._found[text] = self._search(text.encode("utf-8", "surrogatepass"))
        return self._found[text]

    def _search(self, key: bytes) -> str | None:
        node = children(self._units[0])
        for byte in key:
            node ^= byte
            if node >= len(self._units) or self._units[node] & 0x800000FF != byte or byte == 0:
                return None
            unit = self._units[node]
            node ^= children(unit)
            if unit >> 8 & 1:
                start = self._units[node] & 0x7FFFFFFF
                return self._texts[start : self._texts.find(b"\0", start)].decode("utf-8", "replace")
        return None

    def replacements(self, text: str) -> list[tuple[str, str]]:
        """Parts of the text, in order, each with what replaces it.

        A grapheme, a letter with its accents say, is looked up whole where it is short. The shortest part that is in
        the table then stands for all of it, so an accent may be lost: a quirk of the reference that checkpoints have
        been trained with.
        """
        found = []
        for grapheme in graphemes(text):
            whole = self(grapheme) if len(grapheme.encode("utf-8", "surrogatepass")) <= LONGEST_LOOKED_UP else None
            if whole is not None:
                found.append((grapheme, whole))
                continue
            for character in grapheme:
                other = self(character)
                found.append((character, character if other is None else other))
        return found


def children(unit: int) -> int:
    """Where the children of a unit are, relative to it."""
    return (unit >> 10) << ((unit & 0x200) >> 6)


def graphemes(text: str) -> list[str]:
    """Split into what a reader sees as one character: a letter and its accents, a Korean syllable.

    The rules for flags, emoji sequences and Indic conjuncts are left out: those have more than five bytes.
    """
    found: list[str] = []
    previous = "\n"
    for character in text:
        if found and joined(previous, character):
            found[-1] += character
        else:
            found.append(character)
        previous = character
    return found


def joined(previous: str, character: str) -> bool:
    """Whether no grapheme ends between two neighbours."""
    kind, before = grapheme_kind(character), grapheme_kind(previous)
    if "control" in (kind, before):
        return previous == "\r" and character == "\n"
    if kind == "attached" or before == "prepended":
        return True
    followers = {"L": ("L", "V", "LV", "LVT"), "LV": ("V", "T"), "V": ("V", "T"), "LVT": ("T",), "T": ("T",)}
    return kind in followers.get(before, ())


@lru_cache(100_000)
def grapheme_kind(character: str) -> str:
    """What the rules for graphemes go by; for Korean the part of a syllable: leading, vowel, trailing."""
    code, category = ord(character), unicodedata.category(character)
    if character in PREPENDED:
        return "prepended"
    if character in ATTACHES or category in ("Mn", "Me") or (category == "Mc" and character not in STANDS_ALONE):
        return "attached"
    if category in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return "control"
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    for kind, first, last in (
        ("L", 0x1100, 0x115F), ("L", 0xA960, 0xA97C), ("V", 0x1160, 0x11A7), ("V", 0xD7B0, 0xD7C6),
        ("T", 0x11A8, 0x11FF), ("T", 0xD7CB, 0xD7FB),
    ):  # fmt: skip
        if first <= code <= last:
            return kind
    return "other"
