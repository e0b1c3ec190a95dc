"""Putting texts one after the other as their script does: with a space between them, or without one."""

from collections.abc import Iterable

import regex

# Scripts that write no space between sentences, nor where a line goes on in the next: Chinese and Japanese.
NO_SPACE = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{InCJK_Symbols_And_Punctuation}\p{InHalfwidth_And_Fullwidth_Forms}"
)
QUOTES_AND_DASHES = r"[\p{Pi}\p{Pf}\p{Pd}\p{InGeneral_Punctuation}\"']"  # of every script: the next character tells
LONGEST_END = 20  # characters of a text's end that are looked at: quotes and dashes without end take no time
ENDS_WITHOUT_SPACE = regex.compile(rf"[{NO_SPACE}]{QUOTES_AND_DASHES}*\Z")
BEGINS_WITHOUT_SPACE = regex.compile(rf"{QUOTES_AND_DASHES}*[{NO_SPACE}]")


def joined(texts: Iterable[str]) -> str:
    """The texts as one: sentences, lines or words, with a space between two of them unless both are Chinese or Japanese
    there."""
    whole: list[str] = []
    for text in texts:
        if whole and not (ENDS_WITHOUT_SPACE.search(whole[-1][-LONGEST_END:]) and BEGINS_WITHOUT_SPACE.match(text)):
            whole.append(" ")
        whole.append(text)
    return "".join(whole)
