"""Reviews in three classes: positive, neutral (no judgement, or as much for as against), negative."""

import re
from random import Random

from bertedu.corpora.tasks.grammar import Deck, Lists, fill, lists_of

KINDS = ("food", "service", "room", "ware")
SIZES = {"train": 1500, "validation": 300, "test": 300}
TURNED = {"good": "bad", "bad": "good", "glad": "sorry", "sorry": "glad"}
# Of every twenty rows of a class, so many are of each construction; praise and blame come from the same templates.
JUDGED = {"plain": 8, "negated": 5, "turned": 5, "conceded": 2}
NEUTRAL = {"unjudged": 12, "balanced": 8}


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
        pairs = [
            pair
            for fitting in ("any", of_kind)
            for pair in zip(lists[f"{fitting}_good"], lists[f"{fitting}_bad"], strict=True)
        ]
        for number, (good, bad) in zip(("", "2"), random.sample(pairs, 2), strict=True):
            values |= {f"{start}good{number}": good, f"{start}bad{number}": bad}
    values["glad"], values["sorry"] = random.choice(list(zip(lists["glad"], lists["sorry"], strict=True)))
    return fill(template, lists, random, values)


def rows(part: str, random: Random) -> list[dict[str, str]]:
    """The rows of a part, as many of each class, with the construction of each."""
    lists = lists_of("sentiment", part)
    found: dict[str, tuple[str, str]] = {}
    for label, shares in (("positive", JUDGED), ("neutral", NEUTRAL), ("negative", JUDGED)):
        for construction, share in shares.items():
            templates = lists[construction]
            deck = Deck([turned_round(one) for one in templates] if label == "negative" else templates, random)
            wanted = len(found) + SIZES[part] // 60 * share
            while len(found) < wanted:
                found.setdefault(review(deck.draw(), lists, random), (label, construction))
    shuffled = list(found.items())
    random.shuffle(shuffled)
    return [{"text": text, "label": label, "construction": kind} for text, (label, kind) in shuffled]
