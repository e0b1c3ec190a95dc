"""Whiteboard drill: F1 over entities from BIO tags."""

from collections.abc import Callable, Sequence
from typing import Any

from bertedu.course.case import Case
from bertedu.course.explaining import compare, one_number
from bertedu.interview.drills.drill import Drill

TASK = """
Write `entity_f1(gold, predicted)`: how good a tagger finds named entities, for BIO tags such as
"B-person", "I-person" and "O".

    gold        a list of sentences, each a list of tags
    predicted   the same, with as many tags in each sentence

Return F1 over all entities of all sentences together: 2·P·R / (P + R), with the precision P and the recall R. An entity
is right if its type, its first and its last word are. Read tags strictly: an entity begins with B- and goes on with I-
of the same type; an I- that continues nothing belongs to no entity, and it ends the entity before it. Where nothing was
predicted, or nothing is gold, or nothing is right, return 0.

Allowed: the standard library. Not allowed: seqeval.
"""

STUB = """
def entity_f1(gold, predicted):
    raise NotImplementedError
"""

SOLUTION = """
def entities(sentences):
    found = set()
    for number, tags in enumerate(sentences):
        start = None
        for i, tag in enumerate([*tags, "O"]):  # the last one ends an entity at the end
            position, _, kind = tag.partition("-")
            if start is not None and (position != "I" or kind != open_kind):
                found.add((number, start, i, open_kind))
                start = None
            if position == "B":
                start, open_kind = i, kind
    return found


def entity_f1(gold, predicted):
    gold, predicted = entities(gold), entities(predicted)
    right = len(gold & predicted)
    return 2 * right / (len(gold) + len(predicted)) if right else 0.0
"""

Tags = Sequence[Sequence[str]]
Entity = tuple[int, str, int, int]  # sentence, type, first word, word after the last


def entities(
    sentences: Tags, lenient: bool = False, merged: bool = False, lost: bool = False, typeless: bool = False
) -> list[Entity]:
    """All entities, and ways in which they go wrong.

    lenient: an I- that continues nothing begins one; merged: B- directly after an entity of its type continues it;
    lost: an entity at the end of a sentence is lost; typeless: I- of another type continues.
    """
    found: list[Entity] = []
    for number, tags in enumerate(sentences):
        inside: Entity | None = None
        for i, tag in enumerate(tags):
            position, _, kind = tag.partition("-")
            follows = inside is not None and (kind == inside[1] or (typeless and tag != "O"))
            if inside and follows and (position == "I" or (merged and position == "B")):
                inside = (*inside[:3], i + 1)
                continue
            found += [inside] if inside else []
            begins = position == "B" or (lenient and position == "I")
            inside = (number, kind, i, i + 1) if begins else None
        if inside and not lost:
            found.append(inside)
    return found


def f1(gold: set, predicted: set) -> float:
    """F1 of two sets."""
    return 2 * len(gold & predicted) / (len(gold) + len(predicted)) if gold & predicted else 0.0


def of_entities(change: Callable[[list[Entity]], Any] = set, **how: bool) -> Callable[[Tags, Tags], float]:
    """F1 of entities that are read or compared in another way."""
    return lambda gold, predicted: f1(set(change(entities(gold, **how))), set(change(entities(predicted, **how))))


def counts(gold: Tags, predicted: Tags) -> tuple[int, int, int]:
    """Right, predicted and gold entities."""
    ours, theirs = set(entities(gold)), set(entities(predicted))
    return len(ours & theirs), len(theirs), len(ours)


def ratio(above: float, below: float) -> float:
    """0 where there is nothing to divide by."""
    return above / below if below else 0.0


def of_words(gold: Tags, predicted: Tags, with_o: bool) -> float:
    """The accuracy of all words; or F1 over the words of entities."""
    pairs = [(g, p) for ours, theirs in zip(gold, predicted, strict=True) for g, p in zip(ours, theirs, strict=True)]
    if with_o:
        return ratio(sum(g == p for g, p in pairs), len(pairs))
    right = sum(g == p != "O" for g, p in pairs)
    return ratio(2 * right, sum(g != "O" for g, _ in pairs) + sum(p != "O" for _, p in pairs))


def mean_over_sentences(gold: Tags, predicted: Tags) -> float:
    """F1 of each sentence, averaged."""
    each = [RIGHT([g], [p]) for g, p in zip(gold, predicted, strict=True)]
    return ratio(sum(each), len(each))


def mean_over_types(gold: Tags, predicted: Tags) -> float:
    """F1 of each type, averaged."""
    ours, theirs = entities(gold), entities(predicted)
    kinds = {one[1] for one in ours + theirs}
    each = [f1({e for e in ours if e[1] == kind}, {e for e in theirs if e[1] == kind}) for kind in kinds]
    return ratio(sum(each), len(each))


def overlapping(gold: Tags, predicted: Tags) -> float:
    """An entity is right if it overlaps one of its type."""
    ours, theirs = entities(gold), entities(predicted)
    right = sum(any(p[:2] == g[:2] and p[2] < g[3] and g[2] < p[3] for g in ours) for p in theirs)
    return ratio(2 * right, len(ours) + len(theirs))


RIGHT = of_entities()
MISTAKES: dict[str, Callable] = {
    "That is the accuracy over words. Compare whole entities.": lambda g, p: of_words(g, p, with_o=True),
    "That is F1 over the words of entities. An entity counts as a whole, or not at all.": (
        lambda g, p: of_words(g, p, with_o=False)
    ),
    "An entity with the right words and a wrong type is not right.": of_entities(
        lambda found: [(one[0], *one[2:]) for one in found]
    ),
    "Sentences are mixed up: equal entities at the same words of different sentences are one in your set. Put the "
    "number of the sentence into it.": of_entities(lambda found: [one[1:] for one in found]),
    "Only the first word and the type of an entity are compared. Its last word has to be right, too.": of_entities(
        lambda found: [one[:3] for one in found]
    ),
    "Only the last word and the type of an entity are compared. Its first word has to be right, too.": of_entities(
        lambda found: [(one[0], one[1], one[3]) for one in found]
    ),
    "The types are compared, but not where the entities are.": of_entities(lambda found: [one[:2] for one in found]),
    "An entity at the end of a sentence is lost: close the open one after the loop.": of_entities(lost=True),
    "B- directly after an entity of the same type begins a new one. You go on with the old one.": of_entities(
        merged=True
    ),
    "An I- that continues nothing begins an entity in your version. Strictly, it belongs to none.": of_entities(
        lenient=True
    ),
    "I- of another type continues your entity. It ends it: an entity has one type.": of_entities(typeless=True),
    "That is the precision.": lambda g, p: ratio(*counts(g, p)[:2]),
    "That is the recall.": lambda g, p: ratio(counts(g, p)[0], counts(g, p)[2]),
    "That is the mean of precision and recall. F1 is the harmonic mean, 2·P·R / (P + R).": lambda g, p: (
        (ratio(*counts(g, p)[:2]) + ratio(counts(g, p)[0], counts(g, p)[2])) / 2
    ),
    "That is the share of right entities among all different ones. F1 is 2·P·R / (P + R).": lambda g, p: ratio(
        counts(g, p)[0], counts(g, p)[1] + counts(g, p)[2] - counts(g, p)[0]
    ),
    "The factor 2 is missing: F1 is 2·P·R / (P + R).": lambda g, p: RIGHT(g, p) / 2,
    "You average over the sentences. Count the entities of all sentences together.": mean_over_sentences,
    "You average over the types. Count the entities of all types together.": mean_over_types,
    "An entity counts as right where it only overlaps a gold one. Both of its ends have to be right.": overlapping,
    "That is a percentage. Return a share between 0 and 1.": lambda g, p: 100 * RIGHT(g, p),
}


def score(case: Case, got: Any, *_: Any) -> float:
    """F1 as a number."""
    if isinstance(got, tuple):
        case.fail(f"But it returned {len(got)} things, and only F1 is asked for.")
    return one_number(case, "F1", got)


BY_HAND = (
    ("two of three entities right", ["B-per I-per O B-loc", "O B-org O"], ["B-per I-per O B-loc", "O B-per O"]),
    ("an entity that is one word too short", ["B-per I-per I-per O B-loc O"], ["B-per I-per O O B-loc O"]),
    ("neighbours of one type", ["B-per B-per O B-loc O", "O O"], ["B-per I-per O B-loc O", "O B-loc"]),
    ("I- without B-", ["O B-loc O B-per I-per O"], ["O I-loc O B-per I-per O"]),
    ("I- of another type", ["B-per O O B-org O"], ["B-per I-loc O B-org O"]),
    ("the same tags in two sentences", ["B-per O", "O O", "B-per O B-loc"], ["B-per O", "B-per O", "O O B-loc"]),
)  # fmt: skip
KINDS = ("O", "O", "B-per", "I-per", "B-loc", "I-loc")


def tries(case: Case) -> list[tuple]:
    """Sentences by hand, then random tags of which most agree."""
    made: list[tuple] = []
    for tried, *both in BY_HAND:
        made.append((tried, *([line.split() for line in lines] for lines in both)))
    for _ in range(12):
        gold, predicted = [], []
        for length in case.randint(2, 9, (3,)).tolist():
            tags = [KINDS[i] for i in case.randint(0, len(KINDS), (length,)).tolist()]
            other = [KINDS[i] for i in case.randint(0, len(KINDS), (length,)).tolist()]
            kept = case.randint(0, 4, (length,)).tolist()
            gold.append(tags)
            predicted.append([a if keep else b for a, b, keep in zip(tags, other, kept, strict=True)])
        made.append(("three random sentences, with broken tags among them", gold, predicted))
    return made


def examine(case: Case) -> None:
    """By hand, at random, and where a division by 0 is near."""
    case.causes |= {
        "not enough values to unpack": 'The tag "O" has no hyphen. `tag.partition("-")` always gives three parts.',
        "list index out of range": "Do you split the tag O, which has no hyphen? Or does an index leave the sentence?",
        "referenced before assignment": "A variable is used before the first entity has begun.",
    }
    advice = "Write the entities of both sides as (sentence, type, first, last). How many are in both lists?"
    compare(case, tries(case), RIGHT, MISTAKES, advice, names=("F1",), read=score)
    nothing = "0 is divided by 0, or by nothing predicted. The task says what to return there."
    case.causes |= {"division by zero": nothing}
    for tried, gold, predicted in (
        ("a tagger that predicts nothing", [["B-per", "O"]], [["O", "O"]]),
        ("no entity at all", [["O", "O"]], [["O", "O"]]),
        ("sentences without a gold entity", [["O", "O"]], [["B-per", "O"]]),
        ("no right entity", [["B-per", "O"]], [["O", "B-per"]]),
    ):
        compare(case, [(tried, gold, predicted)], RIGHT, {}, nothing, names=("F1",), read=score)
    case.close_with("Say why not accuracy: most words are O, so a tagger that finds nothing is mostly right.")


DRILL = Drill(
    name="entity-f1",
    title="F1 over entities",
    minutes=12,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="11",
    section="Whole entities",
    hints=(
        "Turn both sides into sets of entities first. What must an entry hold, so that equal ones are the same entity?",
        "Entries are (sentence, first, last, type). Walk through the tags with the open entity in mind: everything but "
        "I- of its type closes it, B- opens one, and the end of the sentence closes, too. Then intersect the sets.",
    ),
    examine=examine,
)
