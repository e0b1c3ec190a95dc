"""Which templates training never shows: drawn at random, so that nobody picks the easy ones or the hard ones.

Two kinds of templates are passed over. One that is nearly another template of its relation would ask nothing
new. And one with a word that training hardly uses for this relation would ask what that word means, not for a
fact: so each word of an unseen template stands in several training templates of its relation, or in those of so
many relations that it belongs to none of them ("if", "people", "what").
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

LOT = "unseen templates"
UNSEEN_TEMPLATES = 3  # of each relation
NEAR = 2  # words changed, put in or left out, articles not counted
# What makes a word known: so many training templates of its own relation, or so many relations that use it twice.
KNOWN_IN_RELATION, KNOWN_RELATIONS = 2, 8
ARTICLES = {"a", "an", "the"}


def words(template: str) -> list[str]:
    """The words and slots of a template, in small letters, without articles."""
    found = re.findall(r"\{[^}]*\}|\w+", template.lower().replace("{a ", "{"))
    return [word for word in found if word not in ARTICLES]


def word_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words must be changed, put in or left out to make one of the other (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, word in enumerate(one, 1):
        before, row = row, [i]
        for j, against in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (word != against)))
    return row[-1]


def alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two templates say nearly the same, or one stands whole within the other."""
    short, long = sorted((one, other), key=len)
    within = any(list(long[i : i + len(short)]) == list(short) for i in range(len(long) - len(short) + 1))
    return within or word_distance(one, other) <= NEAR


def lot(template: str) -> bytes:
    """What decides when a template's turn comes: as good as random, and the same everywhere."""
    return hashlib.sha256(f"{LOT} {template}".encode()).digest()


def is_known(word: str, relation: Counter, relations: Iterable[Counter]) -> bool:
    """Whether training would still know the word if one template of this relation were taken out."""
    return relation[word] > KNOWN_IN_RELATION or sum(count[word] > 1 for count in relations) >= KNOWN_RELATIONS


def draw_unseen(templates: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """For each relation {name: its templates} those that training must not show."""
    standing = {name: Counter(word for text in group for word in set(words(text))) for name, group in templates.items()}
    unseen: dict[str, list[str]] = {name: [] for name in templates}
    turns = sorted((lot(text), relation, text) for relation, group in templates.items() for text in group)
    for _, relation, text in turns:
        near = any(alike(words(text), words(other)) for other in templates[relation] if other != text)
        known = all(is_known(word, standing[relation], standing.values()) for word in words(text))
        if len(unseen[relation]) < UNSEEN_TEMPLATES and known and not near:
            unseen[relation].append(text)
            standing[relation].subtract(set(words(text)))
    return {name: tuple(texts) for name, texts in unseen.items()}
