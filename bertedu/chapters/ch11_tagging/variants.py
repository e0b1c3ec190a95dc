"""Variants of chapter 11: tags in another notation, and a program with one of several bugs."""

from collections.abc import Sequence

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

NOTATIONS = (("S", "M", "_"), ("B", "C", "/"), ("1", "2", ":"), ("F", "I", "="))
SENTENCES: tuple[tuple[list[tuple[str, int, int]], str], ...] = (
    ([], "a sentence without an entity"),
    ([("person", 0, 1), ("city", 3, 3)], "a person of two words, and a city"),
    ([("city", 2, 4)], "a sentence that ends with a city"),
    ([("person", 0, 0), ("person", 1, 2)], "two persons next to each other"),
    ([("city", 1, 2), ("person", 3, 4)], "a city and a person next to each other"),
)
Span = tuple[str, int, int]


def merged(wanted: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """What comes if neighbours of one type become one entity."""
    found: list[tuple[int, int, str]] = []
    for first, last, kind in wanted:
        if found and found[-1][1:] == (first - 1, kind):
            found[-1] = (found[-1][0], last, kind)
        else:
            found.append((first, last, kind))
    return found


def reading(draws: Draws) -> Variant:
    """Entities from tags such as person_S, with the last word included; an M without a beginning counts as O."""
    begin, inside, sign = draws.pick(NOTATIONS)

    def tags_of(spans: Sequence[Span], length: int = 5) -> list[str]:
        tags = ["O"] * length
        for kind, first, last in spans:
            tags[first : last + 1] = [f"{kind}{sign}{begin}", *[f"{kind}{sign}{inside}"] * (last - first)]
        return tags

    def examine(case: Case) -> None:
        rows = [(tags_of(spans), [(first, last, kind) for kind, first, last in spans], t) for spans, t in SENTENCES]
        lonely = ["O", f"city{sign}{inside}", f"city{sign}{inside}", f"person{sign}{begin}", f"city{sign}{inside}"]
        rows.append((lonely, [(3, 3, "person")], "tags that continue what did not begin"))
        for tags, wanted, tried in rows:
            got = case.call(tags, tried=f"{tried}: {' '.join(tags)}")
            case.is_a("the result", got, list | tuple, "a list of (first word, last word, type)")
            ends = [(first, last + 1, kind) for first, last, kind in wanted]
            mistakes = [
                ([(kind, first, last) for first, last, kind in ends], COPIED.format(number="11.2")),
                (ends, "The last number is the word after the entity. Give its last word."),
                ([(kind, first, last) for first, last, kind in wanted], "The type comes last here."),
                ([one for one in wanted if one[1] < len(tags) - 1], "The entity that ends with the last word is lost."),
                (unbegun(tags), f"A tag with {inside} that continues no entity of its type counts as O here."),
                (merged(wanted), f"{begin} always begins a new entity."),
            ]
            case.equal("the result", [tuple(one) for one in got], wanted, "Go from word to word.", mistakes=mistakes)

    def unbegun(tags: Sequence[str]) -> list[tuple[int, int, str]]:
        """What comes if a tag inside begins an entity where none is open."""
        found: list[tuple[int, int, str]] = []
        for at, tag in enumerate(tags):
            kind, _, letter = tag.partition(sign)
            if found and letter == inside and found[-1][1:] == (at - 1, kind):
                found[-1] = (found[-1][0], at, kind)
            elif letter:
                found.append((at, at, kind))
        return found

    text = (
        f"In this notation the first word of an entity has the tag `person{sign}{begin}`, each further word "
        f"`person{sign}{inside}`, and all other words `O`: the type comes first. Write `read_tags(tags)`, which "
        f"returns a list of `(first word, last word, type)`, in order, **with the last word included**. A tag with "
        f"{inside} that continues no open entity of its type counts as `O`, and it ends an entity of another type."
    )
    hints = (
        "Remember the entity that is open. Which tags end it, and which one makes it longer?",
        f"tag.partition({sign!r}) gives type and letter. Only {inside} of the open type makes the entity longer.",
    )
    exercise = Exercise("11.11", "Tags in another notation", 2, 12, hints, examine)
    return Variant(exercise, text, "def read_tags(tags):")


PROGRAM = """\
def entity_scores(gold, found):  # for each sentence a list of (type, first word, word after the last)
    hits = wanted = given = 0
    for right, mine in zip(gold, found):
        {count}
        wanted += len(right)
        given += len(mine)
    precision = {precision}
    recall = {recall}
    return precision, recall"""
RIGHT = {
    "count": "hits += len(set(right) & set(mine))",
    "precision": "hits / given if given else 0.0",
    "recall": "hits / wanted if wanted else 0.0",
}
# What is planted, where, and what is said to somebody who leaves it.
BUGS = (
    ("count", "hits += len({x[1:] for x in right} & {x[1:] for x in mine})", "An entity of the wrong type counts."),
    ("count", "hits += len({x[:2] for x in right} & {x[:2] for x in mine})", "An entity with a wrong end counts."),
    ("count", "hits += sum(a == b for a, b in zip(right, mine))", "One entity too many shifts all after it."),
    ("precision", "hits / wanted if wanted else 0.0", "Precision is a share of what was found."),
    ("recall", "hits / given if given else 0.0", "Recall is a share of the gold entities."),
)
ROWS: tuple[tuple[list, list, str], ...] = (
    ([[("person", 0, 2), ("city", 3, 4)]], [[("city", 0, 2), ("city", 3, 4), ("person", 5, 6)]], "a wrong type"),
    ([[("person", 0, 2)], []], [[("person", 0, 1)], [("city", 1, 2)]], "a wrong end"),
    ([[("city", 1, 2), ("city", 4, 5)]], [[("person", 0, 1), ("city", 1, 2), ("city", 4, 5)]], "one too many"),
    ([[("city", 1, 2)], [("person", 0, 1)]], [[("city", 1, 2)], []], "a sentence in which nothing was found"),
    ([[]], [[("city", 1, 2)]], "no gold entity"),
    ([[("city", 1, 2)]], [[]], "no found entity"),
)


def repairing(draws: Draws) -> Variant:
    """A program that scores entities, with two planted bugs."""
    first = draws.pick(BUGS[:3])
    second = draws.pick(BUGS[3:])
    program = PROGRAM.format(**RIGHT | {first[0]: first[1], second[0]: second[1]})

    def run(code: str, gold: object, found: object) -> list[float]:
        names: dict = {}
        exec(code, names)
        return list(names["entity_scores"](gold, found))

    def examine(case: Case) -> None:
        for gold, found, tried in ROWS:
            got = case.parts(case.call(gold, found, tried=tried), "precision", "recall")
            wanted = run(PROGRAM.format(**RIGHT), gold, found)
            mistakes = [(run(program, gold, found), f"That is what the program gives as it was. {first[2]}")]
            mistakes += [
                (run(PROGRAM.format(**RIGHT | {place: code}), gold, found), said) for place, code, said in BUGS
            ]
            case.equal("(precision, recall)", list(got), wanted, "Count by hand what is in both.", mistakes=mistakes)

    text = (
        "The program above should give precision and recall over entities: an entity is right if type, first and last "
        "word are. It has **two bugs**. Write it again, repaired, as `entity_scores_repaired(gold, found)`. Where "
        "nothing was found the precision is 0, where there is no gold entity the recall is 0."
    )
    hints = (
        "Try it on one sentence with one wrong entity. What should precision and recall be, and what comes?",
        "One bug is in what counts as a hit, the other in one of the last two divisions.",
    )
    exercise = Exercise("11.12", "Two bugs in a score", 3, 12, hints, examine)
    return Variant(exercise, text, "def entity_scores_repaired(gold, found):", program)


MAKERS = {"11.11": reading, "11.12": repairing}
