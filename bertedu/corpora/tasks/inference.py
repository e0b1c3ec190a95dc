"""Pairs of sentences: does the second follow from the first, contradict it, or neither?

Hypotheses come in threes, one with each label: the hypothesis alone says nothing about the label, unlike in sets
whose hypotheses people wrote to a label (Gururangan et al. 2018). The same wordings are premises of every label, so
that the premise alone says little.
"""

from dataclasses import dataclass
from random import Random
from typing import Self

from bertedu.corpora.tasks.grammar import Deck, Lists, fill, lists_of, with_capitals

SIZES = {"train": 1800, "validation": 300, "test": 300}
FORMS = ("did", "do", "doing")  # of an act
ONLY_PREMISE = "> "
ANOTHER = 0.6  # of the neutral premises speak of another person, thing or act


@dataclass(frozen=True)
class Frame:
    """A fact: slots that another entity can fill, wordings of the fact and of its opposite, and what leaves it open."""

    slots: list[str]
    sides: tuple[list[str], list[str]]
    open: list[str]

    @classmethod
    def parse(cls, line: str) -> Self:
        """A frame from its line in the file of words."""
        slots, texts = line.split(" => ")
        same, opposite, open_ = (group.split(" / ") for group in texts.split(" || "))
        return cls(slots.split(), (same, opposite), open_)


def drawn(frame: Frame, lists: Lists, random: Random) -> dict[str, str]:
    """Values for all slots of a frame; those of another entity have a 2 after their names."""
    values = dict(zip(("x", "y", "x2", "y2"), random.sample(lists["name"], 4), strict=True))
    for number, act in zip(("", "2"), random.sample(lists["act"], 2), strict=True):
        values |= {form + number: text for form, text in zip(FORMS, act.split(" ~ "), strict=True)}
    for kind in ("thing", "place", "town", "day", "animal"):
        values[kind], values[kind + "2"] = random.sample(lists[kind], 2)
    return values


def of_another(frame: Frame, values: dict[str, str], random: Random) -> tuple[str, dict[str, str]]:
    """A wording of the fact or of its opposite, and the values with which it speaks of another entity, in one slot or
    in all.
    """
    slots = frame.slots if random.random() < 0.5 else [random.choice(frame.slots)]
    forms = [form for slot in slots for form in (FORMS if slot == "act" else (slot,))]
    wordings = [
        one
        for side in frame.sides
        for one in side
        if any(f"{{{form}}}" in one or f"{{a {form}}}" in one for form in forms)
    ]
    return bare(random.choice(wordings)), {**values, **{form: values[form + "2"] for form in forms}}


def bare(wording: str) -> str:
    """A wording without the sign that it can be a premise only."""
    return wording.removeprefix(ONLY_PREMISE)


def three_premises(frame: Frame, lists: Lists, random: Random) -> tuple[str, dict[str, str]]:
    """A hypothesis, and the label of each of its three premises."""
    values = drawn(frame, lists, random)
    own, other = frame.sides
    wording = random.choice([one for one in own if not one.startswith(ONLY_PREMISE)])
    another = random.random() < ANOTHER
    said = {
        "entailment": (random.choice([bare(one) for one in own if one != wording]), values),
        "contradiction": (bare(random.choice(other)), values),
        "neutral": of_another(frame, values, random) if another else (random.choice(frame.open), values),
    }
    shared = {"state": random.choice(lists["state"])}
    premises = {label: sentence(text, lists, random, {**given, **shared}) for label, (text, given) in said.items()}
    return sentence(wording, lists, random, {**values, **shared}), {text: label for label, text in premises.items()}


def sentence(wording: str, lists: Lists, random: Random, values: dict[str, str]) -> str:
    """A wording filled, with a capital and a full stop."""
    return with_capitals(fill(wording, lists, random, dict(values))) + "."


def rows(part: str, random: Random) -> list[dict[str, str]]:
    """The rows of a part: for each hypothesis three, one of each label."""
    lists = lists_of("inference", part)
    frames = Deck(lists["frames"], random)
    found: dict[tuple[str, str], str] = {}
    hypotheses = set()
    while len(found) < SIZES[part]:
        made = three_premises(Frame.parse(frames.draw()), lists, random)
        if made[0] not in hypotheses and len(made[1]) == 3 and made[0] not in made[1]:
            hypotheses.add(made[0])
            found |= {(premise, made[0]): label for premise, label in made[1].items()}
    shuffled = list(found.items())
    random.shuffle(shuffled)
    return [{"sentence1": first, "sentence2": second, "gold_label": label} for (first, second), label in shuffled]
