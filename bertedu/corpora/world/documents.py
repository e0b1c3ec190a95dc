"""Documents that keep to a topic: about one thing, a list of one relation over a group, or about a whole theme.

In all, each fact stands once, so that its answer can be found nowhere else in the document and has to be
remembered. The topic shows on both sides of any split: by the name of the thing, by the relation and the
group, by the few templates that one list keeps to, and by the theme. In a list the sentences around tell what
is asked, and the more of a table it tells, the more can be found by elimination: so a list tells half a table
at most, and in a document about a theme each sentence tells something else, which only its own words give away.
"""

from itertools import chain
from random import Random

from bertedu.corpora.documents import Document
from bertedu.corpora.world.facts import Category, Relation, kinds
from bertedu.corpora.world.sentences import Part, allowed, naming_templates

SHORTEST, LONGEST = 3, 9  # sentences in a document
ALL = "all"  # in place of a column: one list of all rows
Fact = tuple[Category, Relation, dict[str, str]]
PRONOUN_SHARE = 0.3  # of the later sentences about one thing say "it" instead of its name


def entity_document(kind: Category, row: dict[str, str], part: Part, random: Random) -> Document | None:
    """All that is known about one thing, one sentence a relation; None where too little is known."""
    relations = [relation for relation in kind.relations if relation.answer in row]
    random.shuffle(relations)
    sentences: list[str] = []
    for relation in relations:
        named = allowed(naming_templates(relation, part), row, part)
        about = allowed(relation.about, row, part) if sentences and part is not Part.UNSEEN else []
        choices = about if about and random.random() < PRONOUN_SHARE else named
        if choices:
            sentences.append(random.choice(choices))
    return Document(tuple(sentences), kind.name) if len(sentences) >= SHORTEST else None


def listed_groups(kind: Category, relation: Relation) -> dict[str, list[dict[str, str]]]:
    """The rows of each group that a list of this relation can go over."""
    groups: dict[str, list[dict[str, str]]] = {}
    for row in kind.rows:
        group = row.get(relation.lists, "") if relation.lists != ALL else ALL
        if relation.answer in row and group:
            groups.setdefault(group, []).append(row)
    return {name: rows for name, rows in groups.items() if len(rows) >= SHORTEST + 1}


def list_length(rows: list[dict[str, str]]) -> int:
    """How many of these rows a list tells."""
    return max(SHORTEST, min(LONGEST, len(rows) // 2))


def list_document(
    kind: Category, relation: Relation, rows: list[dict[str, str]], part: Part, random: Random
) -> Document | None:
    """One relation told of several things of a group, in two or three templates; None where too few can be told."""
    rows = random.sample(rows, list_length(rows))
    templates = list(naming_templates(relation, part))
    random.shuffle(templates)
    kept = random.choice((2, 3))
    while True:
        choices = [allowed(templates[:kept], row, part) for row in rows]
        if sum(map(bool, choices)) >= min(len(rows), 6) or kept >= len(templates):
            break
        kept += 1
    sentences = tuple(random.choice(sentences) for sentences in choices if sentences)
    return Document(sentences, kind.name) if len(sentences) >= SHORTEST else None


def theme_document(relations: list[list[Fact]], part: Part, random: Random) -> Document | None:
    """Facts about different things of a theme, each in a template of its own."""
    told: dict[tuple[str, str], str] = {}
    facts = list(chain.from_iterable(relations))
    for _ in range(2 * LONGEST):
        kind, relation, row = random.choice(facts)
        choices = allowed(naming_templates(relation, part), row, part)
        if choices and len(told) < LONGEST:
            told.setdefault((kind.name, row[kind.entity]), random.choice(choices))
    return Document(tuple(told.values()), relations[0][0][0].theme) if len(told) >= SHORTEST else None


def themes() -> list[list[list[Fact]]]:
    """For each theme its relations, as the facts that each can tell."""
    found: dict[str, list[list[Fact]]] = {}
    for kind in kinds():
        for relation in kind.relations:
            facts = [(kind, relation, row) for row in kind.rows if relation.answer in row]
            found.setdefault(kind.theme, []).append(facts)
    return list(found.values())


def entities() -> list[tuple[Category, dict[str, str]]]:
    """Every thing about which enough is known for a document of its own."""
    return [
        (kind, row)
        for kind in kinds()
        for row in kind.rows
        if sum(relation.answer in row for relation in kind.relations) >= SHORTEST
    ]


def lists() -> list[tuple[Category, Relation, list[dict[str, str]]]]:
    """Every relation of which there are lists, over every group."""
    return [
        (kind, relation, rows)
        for kind in kinds()
        for relation in kind.relations
        if relation.lists
        for rows in listed_groups(kind, relation).values()
    ]
