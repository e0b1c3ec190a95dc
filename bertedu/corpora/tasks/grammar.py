"""Templates and lists of words in TOML, and the texts that they make, each part of a task from its own."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from random import Random

from bertedu.errors import UserError
from bertedu.files import in_package

PARTS = ("train", "validation", "test")
SHARED = "all"
CHOICE = re.compile(r"<([^<>]*)>")  # <bread/cake/>: one of these, the last is nothing
SLOT = re.compile(r"\{(a )?([a-z_]+)(\d*)\}")  # {dish}, {a dish} with its article, {dish2} for another dish
Lists = dict[str, tuple[str, ...]]


@cache
def read_words(name: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """The file words/<name>.toml: for each section its lists by name, their entries a line each or parted by " | ".

    Raises UserError for a file that is not TOML.
    """
    (path,) = in_package(__package__, "words", f"{name}.toml")
    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML ({error}): put that line right.") from error
    return {
        section: {key: tuple(entry.strip() for entry in re.split(r"\n| \| ", text) if entry.strip())
                  for key, text in lists.items()}
        for section, lists in parsed.items()
    }  # fmt: skip


def lists_of(name: str, part: str) -> Lists:
    """What a part may read: the lists that all parts share, and its own."""
    words = read_words(name)
    return {**words.get(SHARED, {}), **words[part]}


def fill(template: str, lists: Lists, random: Random, values: dict[str, str] | None = None) -> str:
    """A text from a template: alternatives chosen, slots filled, sentences begun with capitals.

    What fills a slot may hold slots and alternatives itself. `values` holds what is given already for slots and
    takes up what is drawn: a slot that comes back gets the same word, {dish2} another one than {dish}.
    """
    values = {} if values is None else values

    def put_in(match: re.Match) -> str:
        article, name, number = match.groups()
        key = name + number
        if key not in values:
            taken = {value for other, value in values.items() if other.rstrip("0123456789") == name}
            if name not in lists:
                raise UserError(f"the template {template!r} asks for {name!r}: there is no such list.")
            free = [word for word in lists[name] if word not in taken]
            values[key] = fill_inside(random.choice(free))
        return with_article(values[key]) if article else values[key]

    def fill_inside(text: str) -> str:
        while match := CHOICE.search(text):
            text = text[: match.start()] + random.choice(match[1].split("/")) + text[match.end() :]
        return SLOT.sub(put_in, text)

    return with_capitals(" ".join(fill_inside(template).split()))


def with_article(noun: str) -> str:
    """The noun with "a" or "an" before it."""
    return ("an " if noun[0].lower() in "aeiou" else "a ") + noun


def with_capitals(text: str) -> str:
    """The text with a capital at the beginning of each sentence."""
    return re.sub(r"(^\"?|[.!?]\"? \"?)([a-z])", lambda match: match[1] + match[2].upper(), text)


class Deck:
    """Draws from entries so that none comes up much more often than another: all, shuffled, then all again."""

    def __init__(self, entries: Sequence[str], random: Random):
        self.entries, self.random = list(entries), random
        self.waiting: list[str] = []

    def draw(self) -> str:
        """The next entry."""
        if not self.waiting:
            self.waiting = self.random.sample(self.entries, len(self.entries))
        return self.waiting.pop()
