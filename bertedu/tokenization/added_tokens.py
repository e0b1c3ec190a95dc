"""Added tokens: those that are whole wherever they are spelt out in a text, whatever the rest of it is split into.

The special tokens are some of them. A model that learned new words after its vocabulary was made has others, with ids
after those of the vocabulary. How they are found is described in the documentation of the `tokenizers` library
(AddedToken), and a test holds the ids equal.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from bertedu.errors import UserError, shown

# Unicode's white space. Python's own also has four separators of ASCII, \x1c to \x1f, which the reference keeps.
WHITE_SPACE = "".join(chr(code) for code in range(0x3001) if chr(code).isspace() and not 0x1C <= code <= 0x1F)
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


@dataclass(frozen=True)
class AddedToken:
    """A token that is whole wherever it stands in a text; names are those of `transformers`.

    single_word: not inside a word; lstrip, rstrip: with the white space before it, after it; normalized: it is looked
    for in the text as the tokenizer rewrites it (lower-cased, say), and rewritten itself; special: left out of what is
    decoded for people.
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True
    special: bool = False

    @classmethod
    def of(cls, value: Any, place: str, special: bool = False) -> "AddedToken":
        """A token as a file has it: its text, or an object with more about it. Raises UserError for anything else."""
        if isinstance(value, str):
            value = {"content": value, "special": special}
        content = value.get("content") if isinstance(value, dict) else None
        if not isinstance(content, str) or not content:
            raise UserError(f"{place}: {shown(value)} is not a token: give its text.")
        flags = {name: value[name] for name in FLAGS if value.get(name) is not None}
        if wrong := [name for name, flag in flags.items() if not isinstance(flag, bool)]:
            raise UserError(
                f"{place}: {wrong[0]} of {shown(content)} is {shown(flags[wrong[0]])}: write true or false."
            )
        special = special or flags.get("special", False)
        return cls(content, **{"normalized": not special, **flags, "special": special})

    def on_disk(self) -> dict[str, Any]:
        """The token as `transformers` writes and reads it."""
        return asdict(self)


class AddedTokens:
    """Added tokens as they are looked for in a text. tokens: each with what it looks like there, and with its id.

    Of two that look alike the last one counts; in the reference that is left to chance.
    """

    def __init__(self, tokens: Iterable[tuple[str, AddedToken, int]]):
        self.found = {looks: (token, index) for looks, token, index in tokens}
        self.first = {looks[0] for looks in self.found}
        longest_first = sorted(self.found, key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def __bool__(self) -> bool:
        return bool(self.found)

    def may_stand_in(self, text: str) -> bool:
        """Whether a text has the first character of one of them."""
        return any(character in text for character in self.first)

    def cut(self, text: str) -> Iterator[tuple[int, int, int | None]]:
        """Cut a text at the tokens that stand in it: start, stop, and the token's id, or None for what is between."""
        begin = 0
        for match in self.pattern.finditer(text):
            start, stop = match.span()
            token, index = self.found[match.group()]
            if token.single_word and in_word(text, start, stop):
                continue
            if token.lstrip:
                start = begin + len(text[begin:start].rstrip(WHITE_SPACE))
            if token.rstrip:
                stop += len(text[stop:]) - len(text[stop:].lstrip(WHITE_SPACE))
            if begin < start:
                yield begin, start, None
            yield start, stop, index
            begin = stop
        if begin < len(text):
            yield begin, len(text), None


def in_word(text: str, start: int, stop: int) -> bool:
    """Whether a part of a text has a letter, digit or mark right before it or after it."""
    return is_of_word(text[start - 1 : start]) or is_of_word(text[stop : stop + 1])


def is_of_word(character: str) -> bool:
    r"""Whether a character (or none: "") is of a word, as Unicode's \w has it; Python's own leaves out marks."""
    if not character:
        return False
    category = unicodedata.category(character)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc") or character in "\u200c\u200d"
