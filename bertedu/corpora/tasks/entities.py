"""Sentences with the names of persons, places, organisations and products, tagged BIO."""

import re
from random import Random

from bertedu.corpora.tasks.grammar import CHOICE, Deck, Lists, lists_of

SIZES = {"train": 960, "validation": 250, "test": 250}
SLOT = re.compile(r"\{(double:)?(person|place|organisation|product)\d?\}(\S*)")
FOLLOWED = 0.3  # of the texts have a second sentence
Tagged = tuple[tuple[str, str], ...]


def tagged(template: str, lists: Lists, random: Random) -> Tagged:
    """The words of a template with their tags; no name twice. Articles belong to no name."""
    while match := CHOICE.search(template):
        template = template[: match.start()] + random.choice(match[1].split("/")) + template[match.end() :]
    words: list[tuple[str, str]] = []
    taken: set[str] = set()
    for piece in template.split():
        match = SLOT.fullmatch(piece)
        if not match:
            words.append((piece, "O"))
            continue
        name = random.choice([name for name in lists["double" if match[1] else match[2]] if name not in taken])
        taken.add(name)
        parts = name.split()
        # "the Red Cross", "old Simon Reed": what is written small does not begin a name.
        while parts[0].islower():
            words.append((parts.pop(0), "O"))
        words += [(part, f"{'I' if number else 'B'}-{match[2]}") for number, part in enumerate(parts)]
    first, tag = words[0]
    return ((first[0].upper() + first[1:], tag), *words[1:])


def rows(part: str, random: Random) -> list[Tagged]:
    """The sentences of a part, each template as often as the others."""
    lists = lists_of("entities", part)
    templates = Deck(lists["templates"], random)
    found: dict[Tagged, None] = {}
    while len(found) < SIZES[part]:
        words = tagged(templates.draw(), lists, random)
        if random.random() < FOLLOWED:
            words += tagged(templates.draw(), lists, random)
        found.setdefault(words)
    return list(found)
