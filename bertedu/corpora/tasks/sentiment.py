"""Reviews in three classes: positive, neutral (no judgement, or as much for as against), negative."""

import re
from random import Random

from bertedu.corpora.tasks.grammar import Deck, Lists, fill, lists_of, with_capitals

KINDS = ("food", "service", "room", "ware")
SIZES = {"train": 1200, "validation": 300, "test": 300}
LABELS = ("positive", "neutral", "negative")
TURNED = {"good": "bad", "bad": "good", "glad": "sorry", "sorry": "glad"}
FRAMED = 0.4  # of the reviews have a sentence of no weight before, and as many one behind


def turned_round(template: str) -> str:
    """The template of the opposite judgement: good for bad in every slot."""
    return re.sub(
        r"\{(other)?(good|bad|glad|sorry)(\d*)\}", lambda m: f"{{{m[1] or ''}{TURNED[m[2]]}{m[3]}}}", template
    )


def review(template: str, lists: Lists, random: Random) -> str:
    """A text on one or two subjects of different kinds, with words that fit each."""
    kind, other = random.sample(KINDS, 2)
    subject, pronoun = random.choice(lists[kind]).split(":")
    values = {"subject": subject, "it": pronoun, "other": random.choice(lists[other]).split(":")[0]}
    for start, of_kind in (("", kind), ("other", other)):
        opposites = list(zip(lists[f"{of_kind}_good"], lists[f"{of_kind}_bad"], strict=True))
        for number, (good, bad) in zip(("", "2"), random.sample(opposites, 2), strict=True):
            values |= {f"{start}good{number}": good, f"{start}bad{number}": bad}
    text = fill(template, lists, random, values)
    if random.random() < FRAMED:
        text = f"{fill('{before}', lists, random)} {text}"
    if random.random() < FRAMED:
        text = f"{text} {fill('{after}', lists, random)}"
    return with_capitals(text)


def rows(part: str, random: Random) -> list[dict[str, str]]:
    """The rows of a part, as many of each class; praise and blame come from the same templates."""
    lists = lists_of("sentiment", part)
    decks = {
        "positive": Deck(lists["praise"], random),
        "neutral": Deck(lists["neutral"], random),
        "negative": Deck([turned_round(template) for template in lists["praise"]], random),
    }
    found: dict[str, str] = {}
    for label in LABELS:
        wanted = len(found) + SIZES[part] // len(LABELS)
        while len(found) < wanted:
            found.setdefault(review(decks[label].draw(), lists, random), label)
    shuffled = list(found.items())
    random.shuffle(shuffled)
    return [{"text": text, "label": label} for text, label in shuffled]
