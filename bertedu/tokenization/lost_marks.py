"""Which words an uncased model cannot tell apart, since its tokenizer drops their marks: क्या and कया, แม่ and แม."""

import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice

import regex

from bertedu.segmentation import words
from bertedu.tokenization.normalization import strip_accents

LOOKED_AT = 2000  # lines from the beginning of a text, of those with any character beyond ASCII
# Alphabets that are read without their marks, if not well. In others a mark is a vowel, a tone or another consonant.
READ_WITHOUT = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}]")
FEW, MANY = 0.01, 0.7  # shares of a text's words that lose a mark of the latter, or any


def watched(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they are; once they have been read, a warning where dropping marks makes them unreadable."""
    first: list[str] = []
    for line in lines:
        if len(first) < LOOKED_AT and not line.isascii():
            first.append(line)
        yield line
    warn_of_lost_marks(first)


def warn_of_lost_marks(lines: Iterable[str]) -> None:
    """Warn where a tokenizer that strips accents takes vowels or tones from these lines, or a mark of most words."""
    looked_at = islice((line for line in lines if not line.isascii()), LOOKED_AT)
    found = [word for line in looked_at for word in words(line)]
    changed = [word for word in found if strip_accents(word) != unicodedata.normalize("NFD", word)]
    needed = [word for word in changed if not READ_WITHOUT.search(word)]
    if changed and (len(needed) >= FEW * len(found) or len(changed) >= MANY * len(found)):
        example = (needed or changed)[0]
        warnings.warn(
            f"an uncased tokenizer drops marks: of the words looked at {len(changed) / len(found):.0%} lose some, "
            f"{example} becomes {unicodedata.normalize('NFC', strip_accents(example))}. Keep them with --cased (in "
            "Python lowercase=False, or strip_accents=False).",
            stacklevel=2,
        )
