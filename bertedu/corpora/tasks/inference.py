"""Pairs of sentences: does the second follow from the first, contradict it, or neither?

Hypotheses come in threes, one with each label: the hypothesis alone says nothing about the label, unlike in sets
whose hypotheses people wrote to a label (Gururangan et al. 2018).
"""

import re
from random import Random

from bertedu.corpora.tasks.grammar import Deck, fill, lists_of

SIGNS = {"+": "entailment", "?": "neutral", "-": "contradiction"}
SIZES = {"train": 1500, "validation": 300, "test": 300}


def pieces(frame: str) -> dict[str, list[str]]:
    """The hypothesis (under "=") and the premises of a frame by sign."""
    found: dict[str, list[str]] = {}
    for sign, text in re.findall(r"([=+?-]) (.+?)(?= [=+?-] |$)", frame):
        found.setdefault(sign, []).append(text)
    return found


def rows(part: str, random: Random) -> list[dict[str, str]]:
    """The rows of a part: for each hypothesis three, one of each label."""
    lists = lists_of("inference", part)
    frames = Deck(lists["frames"], random)
    found: dict[tuple[str, str], str] = {}
    while len(found) < SIZES[part]:
        frame = pieces(frames.draw())
        values = dict(zip("xyz", random.sample(lists["name"], 3), strict=True))
        hypothesis = fill(frame["="][0], lists, random, values)
        three = {(fill(random.choice(frame[sign]), lists, random, values), hypothesis): sign for sign in SIGNS}
        if not any(pair[1] == hypothesis for pair in found):
            found |= {pair: SIGNS[sign] for pair, sign in three.items()}
    shuffled = list(found.items())
    random.shuffle(shuffled)
    return [{"sentence1": first, "sentence2": second, "gold_label": label} for (first, second), label in shuffled]
