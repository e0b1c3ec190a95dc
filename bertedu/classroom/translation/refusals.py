"""`bertedu translate check`: translations that have lost something the notebook or the check needs."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bertedu.classroom.translation.catalogues import (
    PATTERN,
    PLACEHOLDER,
    Count,
    catalogues,
    messages,
    read_catalogue,
)
from bertedu.classroom.translation.prose import FENCE, HEADING, HTML, ITEM, QUOTE
from bertedu.course.building.places import Places
from bertedu.errors import UserError, shown

CODE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"\]\(([^)]*)\)")
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\s][^$]*\$")
MARKS = re.compile(r"[●○]+|\[(?:CLS|SEP|MASK|UNK|PAD)\]")
BEGINS = (FENCE, HEADING, ITEM, QUOTE, HTML, re.compile(r"\s*\||\$\$"))  # what makes another kind of block
KEPT = {
    "the code": lambda text: {code for _, code in CODE.findall(text)},
    "the link": lambda text: Counter(LINK.findall(text)),
    "the tag": lambda text: Counter(TAG.findall(CODE.sub("", text))),
    "the formula": lambda text: set(FORMULA.findall(CODE.sub("", text))),
    "the mark": lambda text: set(MARKS.findall(CODE.sub("", text))),
}


def check(language: str, places: Places | None = None) -> list[Count]:
    """How far the catalogues of a language are. Raises UserError, with a line for each, where a translation has lost
    something; those that are missing or fuzzy are not used, and not refused."""
    counts, problems = [], []
    for path in catalogues(language, places or Places()):
        found = messages(read_catalogue(path))
        for message in found:
            if message.string and not message.fuzzy:
                problems += [f"{path}, line {message.lineno}: {problem}" for problem in losses(message)]
        fuzzy = sum(message.fuzzy for message in found)
        counts.append(Count(path, len(found), sum(not message.string for message in found), fuzzy))
    if problems:
        raise UserError("\n".join((*problems, f"{len(problems)} to put right: correct the translations named above.")))
    return counts


def losses(message: Any) -> Iterator[str]:
    """What a translation has lost, or says that its English does not, each in a sentence."""
    english, other = message.id, message.string
    if not isinstance(english, str) or not isinstance(other, str):
        yield "a text with plural forms: the course has none"
        return
    if PATTERN in message.flags:
        yield from differences("the placeholder", set(PLACEHOLDER.findall(english)), set(PLACEHOLDER.findall(other)))
    for what, find in KEPT.items():
        yield from differences(what, find(english), find(other))
    if "\n" in other:
        yield f"{shown(other)} has a line break: write one line"
    row = any(comment.startswith("row of a table") for comment in message.auto_comments)
    if row and english.count("|") != other.count("|"):
        yield f"the row has {other.count('|')} signs | and needs {english.count('|')}"
    if any(begin.match(other) and not begin.match(english) for begin in BEGINS):
        yield f"{shown(other)} begins a list, heading, quotation or table in Markdown: begin with a word"


def differences(what: str, wanted: Any, found: Any) -> Iterator[str]:
    """What is missing of what the English has, and what is there beside it."""
    for one in wanted - found:
        yield f"{what} {one!r} is lost"
    for one in found - wanted:
        yield f"{what} {one!r} is not in the English, or not as often"
