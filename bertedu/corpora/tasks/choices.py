"""Beginnings with four endings, and riddles of who and where: one choice of four is right."""

from random import Random
from typing import Any

from bertedu.corpora.tasks.grammar import Deck, Lists, fill, lists_of, with_capitals

SIZES = {"train": 900, "validation": 240, "test": 240}
CHOICES = 4
ENDINGS = 0.5  # of the rows ask for an ending


def ending(line: str, lists: Lists, random: Random) -> tuple[str, str, list[str]]:
    """A beginning, its ending, and the endings of three others."""
    begin, end = line.split(" => ")
    others = [other.split(" => ")[1] for other in lists["endings"] if other != line]
    values = {"x": random.choice(lists["name"])}
    wrong = random.sample(others, CHOICES - 1)
    return fill(begin, lists, random, values), end, wrong


def riddle(line: str, lists: Lists, random: Random) -> tuple[str, str, list[str]]:
    """A story with its question, the answer, and wrong answers: all of the story's, and such as are not in it."""
    text, slot = line.split(" => ")
    values = dict(zip("xyz", random.sample(lists["name"], 3), strict=True))
    question = fill(text, lists, random, values)
    kind = "name" if slot in "xyz" else "spot"
    wrong = [word for word in lists[kind] if word in values.values() and word != values[slot]]
    if kind == "name":
        wrong = [word for word in wrong if word in question]
    unsaid = [word for word in lists[kind] if word not in values.values()]
    wrong += random.sample(unsaid, CHOICES - 1 - len(wrong))
    return question, values[slot], wrong


def rows(part: str, random: Random) -> list[dict[str, Any]]:
    """The rows of a part; the position of the right choice is random, each as often."""
    lists = lists_of("choices", part)
    endings, moves = Deck(lists["endings"], random), Deck(lists["moves"], random)
    places = Deck([str(place) for place in range(CHOICES)], random)
    found: dict[tuple[str, tuple[str, ...]], int] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    while len(found) < SIZES[part]:
        if len(found) < ENDINGS * SIZES[part]:
            question, right, wrong = ending(endings.draw(), lists, random)
        else:
            question, right, wrong = riddle(moves.draw(), lists, random)
            right, wrong = with_capitals(right), [with_capitals(word) for word in wrong]
        random.shuffle(wrong)
        key = (question, frozenset([right, *wrong]))
        if key not in seen:
            seen.add(key)
            place = int(places.draw())
            found[question, (*wrong[:place], right, *wrong[place:])] = place
    shuffled = list(found.items())
    random.shuffle(shuffled)
    return [{"question": asked, "choices": list(given), "label": place} for (asked, given), place in shuffled]
