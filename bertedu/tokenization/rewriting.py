"""The steps by which SentencePiece's tokenizers rewrite a text before it is split, and where characters came from.

A step is called with a text and gives the new one. `traced` does the same for a text whose characters know the span of
the original text that they came from. Every step has its own `settings`: how tokenizer.json spells it.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any

from bertedu.tokenization.added_tokens import WHITE_SPACE
from bertedu.tokenization.charsmap import CharsMap
from bertedu.tokenization.encoding import Offset
from bertedu.tokenization.normalization import lower_case
from bertedu.tokenization.offsets import compose, in_canonical_order

Traced = tuple[str, list[Offset]]  # a text, and for each character the (start, end) that it came from
# A character, and how much longer the text becomes: 1 for one that is inserted, 0 for one that replaces another, -n for
# one that replaces n + 1.
Change = tuple[str, int]


class Step(ABC):
    """A rewriting of a text. settings is its entry in tokenizer.json."""

    def __init__(self, settings: dict[str, Any]):
        self.settings = settings

    @abstractmethod
    def __call__(self, text: str) -> str:
        """The new text."""

    @abstractmethod
    def traced(self, text: str, spans: list[Offset]) -> Traced:
        """The new text, and the spans of its characters."""


def moved(changes: Iterable[Change], spans: Sequence[Offset]) -> Traced:
    """The text and the spans after changes: what replaces characters has the first one's span, and what is inserted
    has that of the character before.
    """
    text, found, position = [], [], 0
    for character, change in changes:
        text.append(character)
        if change > 0:
            found.append(spans[position - 1] if position else (0, 0))
        else:
            found.append(spans[position])
            position += 1 - change
    return "".join(text), found


class Replace(Step):
    """A plain text becomes another one, wherever it stands."""

    def __init__(self, old: str, new: str):
        super().__init__({"type": "Replace", "pattern": {"String": old}, "content": new})
        self._old = re.compile(re.escape(old))
        self._new = new

    def __call__(self, text: str) -> str:
        return self._old.sub(lambda match: self._new, text)

    def traced(self, text: str, spans: list[Offset]) -> Traced:
        found: list[Offset] = []
        end = 0
        for match in self._old.finditer(text):
            found += spans[end : match.start()]
            end = match.end()
            found += [spans[end - 1]] * len(self._new)
        return self(text), found + spans[end:]


class JoinSpaces(Replace):
    """Several white spaces in a row, a tab or a line end become one plain space."""

    def __init__(self) -> None:
        super().__init__("", " ")
        self.settings["pattern"] = {"Regex": r"\s{2,}|[\n\r\t]"}
        self._old = re.compile(rf"[{WHITE_SPACE}]{{2,}}|[\n\r\t]")  # Python's \s has four separators more


class Decompose(Step):
    """Unicode's form NFKD: letters apart from their accents, and what only looks different made the same (ﬁ, fi)."""

    def __init__(self) -> None:
        super().__init__({"type": "NFKD"})

    def __call__(self, text: str) -> str:
        return unicodedata.normalize("NFKD", text)

    def traced(self, text: str, spans: list[Offset]) -> Traced:
        parts = [(part, i) for old in text for i, part in enumerate(unicodedata.normalize("NFKD", old))]
        return moved(((part, int(i > 0)) for part, i in in_canonical_order(parts)), spans)


class Compose(Step):
    """Unicode's form NFC: a letter and its accent become one character where there is one."""

    def __init__(self) -> None:
        super().__init__({"type": "NFC"})

    def __call__(self, text: str) -> str:
        return unicodedata.normalize("NFC", text)

    def traced(self, text: str, spans: list[Offset]) -> Traced:
        characters = list(compose((character, index) for index, character in enumerate(text)))
        return "".join(character for character, _ in characters), [spans[index] for _, index in characters]


class StripAccents(Step):
    """Drop the combining marks."""

    def __init__(self) -> None:
        super().__init__({"type": "StripAccents"})

    def __call__(self, text: str) -> str:
        return "".join(character for character in text if not is_mark(character))

    def traced(self, text: str, spans: list[Offset]) -> Traced:
        return self(text), [span for character, span in zip(text, spans, strict=True) if not is_mark(character)]


class Lowercase(Step):
    """Lower the case of each character by itself."""

    def __init__(self) -> None:
        super().__init__({"type": "Lowercase"})

    def __call__(self, text: str) -> str:
        return lower_case(text)

    def traced(self, text: str, spans: list[Offset]) -> Traced:
        return moved(((new, int(i > 0)) for old in text for i, new in enumerate(old.lower())), spans)


class Precompiled(Step):
    """SentencePiece's table of characters (see `charsmap.py`)."""

    def __init__(self, charsmap: CharsMap):
        self.charsmap = charsmap
        super().__init__({"type": "Precompiled", "precompiled_charsmap": b64encode(charsmap.data).decode()})

    def __call__(self, text: str) -> str:
        return "".join(new for _, new in self.charsmap.replacements(text))

    def traced(self, text: str, spans: list[Offset]) -> Traced:
        """Where characters are dropped, the one before replaces them too. At the beginning there is none, and the
        reference shifts all spans that follow.
        """
        changes: list[Change] = []
        for old, new in self.charsmap.replacements(text):
            more = len(new) - len(old)
            changes += [(character, int(i >= len(old))) for i, character in enumerate(new)]
            if more < 0 and changes:
                changes[-1] = (changes[-1][0], changes[-1][1] + more)
        return moved(changes, spans)


class StripRight(Step):
    """Drop the white space at the end."""

    def __init__(self) -> None:
        super().__init__({"type": "Strip", "strip_left": False, "strip_right": True})

    def __call__(self, text: str) -> str:
        return text.rstrip(WHITE_SPACE)

    def traced(self, text: str, spans: list[Offset]) -> Traced:
        return self(text), spans[: len(self(text))]


def is_mark(character: str) -> bool:
    """Whether the character is a combining mark."""
    return unicodedata.category(character).startswith("M")
