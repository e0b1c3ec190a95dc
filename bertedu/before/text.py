"""The text that all models of this folder read: the small world, and sentences whose verb agrees with a far noun.

Each different sentence of the world stands once. To them come sentences such as "the lamps near the cup are wet .",
made as in Linzen, Dupoux & Goldberg 2016: between the subject and its verb stand nouns that have a number of their own.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from random import Random

from bertedu.corpora.world.facts import kinds

VERBS = (("is", "are"), ("was", "were"))  # for one, for several
PREPOSITIONS = ("near", "behind", "beside", "under", "above")
ADJECTIVES = ("wet", "new", "old", "dirty", "lost", "red", "blue", "clean", "broken", "dry")
NO_REGULAR_PLURAL = ("mouse", "goose", "deer", "sheep", "fish", "trout", "salmon", "ox")
MOST_DISTRACTORS = 2  # in training
WITHOUT_PLURAL = 5  # every fifth noun stands in the singular only


@dataclass(frozen=True)
class AgreementQuestion:
    """A sentence whose verb is [MASK], and the verb that agrees with the subject beside the one that does not."""

    sentence: str
    right: str
    wrong: str
    distractors: int


@cache
def nouns() -> list[str]:
    """Animals and instruments of the world whose plural ends in s alone."""
    found = [row[kind.entity] for kind in kinds() if kind.name in ("animal", "instrument") for row in kind.rows]
    regular = [noun for noun in found if noun.isalpha() and noun.islower() and not noun.endswith((*"sxyhfzo",))]
    return [noun for noun in regular if noun not in NO_REGULAR_PLURAL]


def unseen_plurals() -> list[tuple[str, str]]:
    """Nouns and their plurals that training never shows."""
    return [(noun, noun + "s") for noun in nouns()[::WITHOUT_PLURAL]]


def is_held_out(subject: str, distractor: str) -> bool:
    """Whether training never shows this subject with this distractor next to it: a quarter of all pairs."""
    return hashlib.sha256(f"{subject} {distractor}".encode()).digest()[0] < 64


def agreement(random: Random, distractors: int, held_out: bool, hard: bool) -> AgreementQuestion:
    """A random sentence. With hard, all distractors have the number that the subject does not have."""
    words = [noun for number, noun in enumerate(nouns()) if number % WITHOUT_PLURAL]
    while True:
        chosen = random.sample(words, 1 + distractors)
        if not distractors or is_held_out(*chosen[:2]) == held_out:
            break
    several = random.random() < 0.5
    numbers = [several] + [not several if hard else random.random() < 0.5 for _ in range(distractors)]
    parts = [f"the {noun}{'s' * number}" for noun, number in zip(chosen, numbers, strict=True)]
    subject = parts[0] + "".join(f" {random.choice(PREPOSITIONS)} {part}" for part in parts[1:])
    verbs = random.choice(VERBS)
    sentence = f"{subject} [MASK] {random.choice(ADJECTIVES)} ."
    return AgreementQuestion(sentence, verbs[several], verbs[not several], distractors)


def told(question: AgreementQuestion, right: bool = True) -> str:
    """The sentence with its verb, or with the verb that does not agree."""
    return question.sentence.replace("[MASK]", question.right if right else question.wrong)


def agreement_sentences(count: int, seed: int = 0) -> list[str]:
    """Training sentences with none, one and two distractors, and the singular of the nouns that have no plural here."""
    random = Random(f"{seed} agreement")
    questions = [agreement(random, random.randint(0, MOST_DISTRACTORS), False, False) for _ in range(count)]
    alone = [f"the {noun} {random.choice(['is', 'was'])} {random.choice(ADJECTIVES)} ." for noun, _ in unseen_plurals()]
    return [*map(told, questions), *alone]


def agreement_questions(count: int, distractors: int, seed: int = 1) -> list[AgreementQuestion]:
    """Hard questions with pairs of nouns that training never shows, about one thing or several."""
    random = Random(f"{seed} questions {distractors}")
    return [agreement(random, distractors, True, True) for _ in range(count)]
