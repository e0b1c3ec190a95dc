"""What a check said in English, said in another language: sentences are recognized, and their values put into others.

A line of a verdict was made by the course from one or more sentences, some with values in them. `Phrases` finds the
way to read a line that leaves the fewest characters unknown, and says it again in the other language. Values that are
texts of the course themselves ("the result", "a list") are translated too; a line of the learner's own code is not.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

PLACEHOLDER = re.compile(r"\{(\w+)\}")
VERBATIM = ("line", "raised", "LINE", "known", "number")  # values that hold the learner's words, or Python's
LISTS = ("tried", "items", "items2", "right")  # values that are several texts with ", " between them
AND = "{items} and {items2}"
ONE_WORD = re.compile(r"an? \{(\w+)\}")  # "a list": no pattern for anything else that begins with a
INDEXED = re.compile(r"(.+?)( ?\[[\d, ]*\])")  # "the result[0, 3]"
MOST_READINGS = 200  # of one line by one pattern


@dataclass(frozen=True)
class Phrase:
    """A sentence with placeholders, in English and in the other language."""

    english: str
    other: str

    @property
    def parts(self) -> list[str]:
        """Text, name, text, name, …, text."""
        return PLACEHOLDER.split(self.english)

    def readings(self, line: str) -> Iterator[dict[str, str]]:
        """All the ways in which the line is this sentence: the values of its placeholders."""
        parts = self.parts
        if line.startswith(parts[0]) and line.endswith(parts[-1]) and all(part in line for part in parts[::2]):
            yield from fitting(line[len(parts[0]) :], parts[1:], {})

    def with_values(self, values: dict[str, str]) -> str:
        """The sentence in the other language."""
        return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), self.other)


def fitting(rest: str, parts: list[str], values: dict[str, str]) -> Iterator[dict[str, str]]:
    """Values for [name, text, name, text, …] that make up the rest of a line."""
    name, text, *others = parts
    if not others:
        if rest.endswith(text):
            value = rest[: len(rest) - len(text)]
            if values.get(name, value) == value:
                yield {**values, name: value}
        return
    at = rest.find(text)
    while at >= 0:
        if values.get(name, rest[:at]) == rest[:at]:
            yield from fitting(rest[at + len(text) :], others, {**values, name: rest[:at]})
        if at >= len(rest):
            return
        at = rest.find(text, at + 1)


class Phrases:
    """All that the checks and hints can say, with what it is in the other language (itself, where that is missing)."""

    def __init__(self, pairs: Iterable[tuple[str, str]]):
        self.exact: dict[str, str] = {}
        self.patterns: list[Phrase] = []
        for english, other in pairs:
            if PLACEHOLDER.search(english):
                self.patterns.append(Phrase(english, other))
            else:
                self.exact.setdefault(english, other)
        self.read = lru_cache(maxsize=4096)(self._read)

    def say(self, text: str) -> str:
        """The text in the other language, line by line."""
        return "\n".join(self.read(line, "")[0] for line in text.split("\n"))

    def _read(self, line: str, name: str) -> tuple[str, int]:
        """The best reading of a line, or of the value of a placeholder, and how many characters of it are unknown."""
        inner = line.strip()
        if not inner or name in VERBATIM:
            return line, len(inner)
        before, after = line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :]
        best = min(self.candidates(inner, name), key=lambda found: found[1], default=(inner, len(inner)))
        said, unknown = best if best[1] < len(inner) else (inner, len(inner))
        return f"{before}{said}{after}", unknown

    def candidates(self, text: str, name: str) -> Iterator[tuple[str, int]]:
        """Ways to read a text: as one sentence, with values or without, or as several."""
        if text in self.exact:
            yield self.exact[text], 0
            return
        yield from self.by_patterns(text, name)
        if name and (found := INDEXED.fullmatch(text)) and found[1] in self.exact:
            yield self.exact[found[1]] + found[2], 0
        if not name:
            for found in re.finditer(r"(?<=[.?!]) (?=\S)", text):
                yield self.joined(text[: found.start()], " ", text[found.end() :], "")
        elif name in LISTS:
            for found in re.finditer(", ", text):
                yield self.joined(text[: found.start()], ", ", text[found.end() :], name)

    def joined(self, first: str, between: str, rest: str, name: str) -> tuple[str, int]:
        """Two readings as one; the first part must not be cut again."""
        known = [*self.by_patterns(first, name)]
        if first in self.exact:
            known.append((self.exact[first], 0))
        if name and (found := INDEXED.fullmatch(first)) and found[1] in self.exact:
            known.append((self.exact[found[1]] + found[2], 0))
        said, unknown = min(known, key=lambda one: one[1], default=(first, len(first)))
        other, more = self.read(rest, name)
        return f"{said}{between}{other}", unknown + more

    def by_patterns(self, text: str, name: str) -> Iterator[tuple[str, int]]:
        """The text as one sentence with values."""
        for phrase in self.patterns:
            if phrase.english == AND and name not in LISTS:
                continue
            for count, values in enumerate(phrase.readings(text)):
                if count >= MOST_READINGS:
                    break
                if ONE_WORD.fullmatch(phrase.english) and not all(value.isidentifier() for value in values.values()):
                    continue
                found = {key: self.read(value, key) for key, value in values.items()}
                unknown = sum(cost for _, cost in found.values())
                yield phrase.with_values({key: said for key, (said, _) in found.items()}), unknown
