"""Questions about the facts, in templates that training never shows, each with one right answer."""

import re
from random import Random

from bertedu.corpora.documents import FactProbe
from bertedu.corpora.world.facts import Category, Relation, fill, fits, kinds, slots

MASK = "[MASK]"


def single_answer(kind: Category, relation: Relation, template: str, row: dict[str, str]) -> bool:
    """Whether the answer is one word that the rest of the sentence decides, and does not give away.

    It must not be the first word: "It" and "What" can begin nearly any sentence.
    """
    answer, others = row[relation.answer], [slot for slot in slots(template) if slot != relation.answer]
    first = template.startswith(f"{{{relation.answer}}}")
    if slots(template).count(relation.answer) != 1 or first or not others or not answer.isalnum():
        return False
    rivals = [other for other in kind.rows if all(other.get(slot) == row[slot] for slot in others)]
    once = len(re.findall(rf"\b{answer}\b", fill(template, row), re.IGNORECASE)) == 1
    return once and {other.get(relation.answer) for other in rivals} == {answer}


def hide(sentence: str, answer: str) -> str:
    """The sentence with [MASK] for the answer."""
    return re.sub(rf"\b{answer}\b", MASK, sentence, flags=re.IGNORECASE)


def relation_probes(kind: Category, relation: Relation) -> list[FactProbe]:
    """Every question about one relation."""
    return [
        FactProbe(hide(fill(template, row), answer := row[relation.answer]), answer.lower(), answer)
        for template in relation.unseen
        for row in kind.rows
        if relation.answer in row and fits(template, row) and single_answer(kind, relation, template, row)
    ]


def fact_probes(each: int, random: Random) -> list[FactProbe]:
    """At most `each` questions about every relation, so that no relation weighs more than the others."""
    chosen: list[FactProbe] = []
    for kind in kinds():
        for relation in kind.relations:
            found = relation_probes(kind, relation)
            chosen += random.sample(found, min(each, len(found)))
    return chosen
