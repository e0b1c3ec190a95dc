"""Sentences with the names of persons, places, organisations and products, tagged BIO."""

import re
from itertools import pairwise
from random import Random

from bertedu.corpora.tasks.grammar import CHOICE, Deck, Lists, lists_of

SIZES = {"train": 2000, "validation": 300, "test": 300}
SLOT = re.compile(r"\{(double:)?(person|place|organisation|product)\d?\}")
PART = re.compile(r"\{([a-z]+)\d?\}")  # {first}, {last}, {last2}: what a name is made of; {thing}, {day}: no names
FOLLOWED = 0.15  # of the texts have a second sentence
Tagged = tuple[tuple[str, str], ...]


def filled(form: str, lists: Lists, random: Random, taken: set[str]) -> str:
    """A form such as "Mrs {last}" with words in its slots of which none is taken yet (and all are afterwards)."""

    def part(match: re.Match) -> str:
        chosen = random.choice([word for word in lists[match[1]] if word not in taken])
        taken.add(chosen)
        return chosen

    return PART.sub(part, form)


def tagged(template: str, lists: Lists, random: Random) -> Tagged:
    """The words of a template with their tags; no name twice. Articles belong to no name."""
    while match := CHOICE.search(template):
        template = template[: match.start()] + random.choice(match[1].split("/")) + template[match.end() :]
    words: list[tuple[str, str]] = []
    taken: set[str] = set()
    for piece in template.split():
        match = SLOT.fullmatch(piece)
        if not match:
            words.append((filled(piece, lists, random, taken), "O"))
            continue
        forms = lists["double" if match[1] else match[2]]
        name = filled(random.choice([form for form in forms if form not in taken]), lists, random, taken)
        taken.add(name)
        parts = name.split()
        # "the Bank of Rome", "old Simon Reed": what is written small does not begin a name.
        while parts[0].islower():
            words.append((parts.pop(0), "O"))
        words += [(part, f"{'I' if number else 'B'}-{match[2]}") for number, part in enumerate(parts)]
    for place, ((word, tag), (following, _)) in enumerate(pairwise(words)):
        if word in ("a", "A") and following[0] in "AEIOUaeio":
            words[place] = (word + "n", tag)
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
