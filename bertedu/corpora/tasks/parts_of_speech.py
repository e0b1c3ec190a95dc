"""Sentences of words with several parts of speech, universal tags: the light, to light, a light coat."""

import re
from itertools import pairwise
from random import Random

from bertedu.corpora.readers.columns import UNIVERSAL_TAGS
from bertedu.corpora.tasks.grammar import CHOICE, Deck, Lists, lists_of
from bertedu.errors import UserError

SIZES = {"train": 1000, "validation": 250, "test": 250}
SLOT = re.compile(r"\{([a-z]+)(?::([A-Z]+))?\}")
Tagged = tuple[tuple[str, str], ...]


def tags_of_words(lists: Lists) -> dict[str, str]:
    """The tag of each word that has a single one: the lists named as a tag hold such words."""
    return {word: tag for tag in UNIVERSAL_TAGS for word in lists.get(tag, ())}


def tagged(template: str, lists: Lists, random: Random) -> Tagged:
    """The words of a template with their tags.

    Raises UserError for a word that has no tag: write word/TAG, or put it into the list of its tag.
    """
    while match := CHOICE.search(template):
        chosen = random.choice(re.split(r"/(?![A-Z]{2})", match[1]))  # <a/that/DET>: a, or that as a determiner
        template = template[: match.start()] + chosen + template[match.end() :]
    known = tags_of_words(lists)
    words: list[tuple[str, str]] = []
    for piece in template.split():
        word, _, tag = piece.partition("/")
        if match := SLOT.fullmatch(piece):
            word = random.choice(lists[match[1]] + lists.get(f"{match[1]}_too", ()))
            tag = match[2] or "NOUN"
        tag = tag or known.get(word.lower(), "")
        if tag not in UNIVERSAL_TAGS:
            raise UserError(f"the word {word!r} of {template!r} has no tag: write {word}/NOUN, or whatever it is.")
        words.append((word, tag))
    for place, ((word, tag), (following, _)) in enumerate(pairwise(words)):
        if word.lower() in ("a", "an") and tag == "DET":
            words[place] = (word[0] + ("n" if following[0].lower() in "aeiou" else ""), tag)
    first, tag = words[0]
    return ((first[0].upper() + first[1:], tag), *words[1:])


def rows(part: str, random: Random) -> list[Tagged]:
    """The sentences of a part, each template as often as it has new sentences to give."""
    lists = lists_of("parts_of_speech", part)
    templates = Deck(lists["templates"], random)
    found: dict[Tagged, None] = {}
    while len(found) < SIZES[part]:
        found.setdefault(tagged(templates.draw(), lists, random))
    return list(found)
