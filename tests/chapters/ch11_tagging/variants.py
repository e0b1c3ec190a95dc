"""Answers to the variants of chapter 11: see test_classroom_variants.py."""

from support.variant_facts import found

TAGS = """
def read_tags(tags):
    found, kind, start = [], None, 0
    for at, tag in enumerate([*tags, "O"]):
        name, _, letter = tag.partition(sign)
        if letter == inside and name == kind:
            continue
        if kind is not None:
            found.append((start, at - 1, kind))
        kind, start = (name, at) if letter == begin else (None, at)
    return found
"""
TAGS_AHEAD = """
def read_tags(tags):
    found = []
    for start, tag in enumerate(tags):
        if tag.endswith(sign + begin):
            kind, end = tag[:-2], start
            while end + 1 < len(tags) and tags[end + 1] == kind + sign + inside:
                end += 1
            found.append([start, end, kind])
    return found
"""
SCORES = """
def entity_scores_repaired(gold, found):
    hits = sum(len(set(a) & set(b)) for a, b in zip(gold, found))
    wanted, given = sum(map(len, gold)), sum(map(len, found))
    return (hits / given if given else 0.0), (hits / wanted if wanted else 0.0)
"""
SCORES_LONG = """
def entity_scores_repaired(gold, found):
    mine = {(at, *span) for at, row in enumerate(found) for span in row}
    right = {(at, *span) for at, row in enumerate(gold) for span in row}
    return [len(mine & right) / max(1, len(some)) for some in (mine, right)]
"""
AS_GIVEN = "exec(given.replace('entity_scores', 'entity_scores_repaired'), globals())"

RIGHT = {
    "11.11": [TAGS, TAGS_AHEAD],
    "11.12": [SCORES, SCORES_LONG],
}
WRONG = {
    "11.11": {
        TAGS.replace("(start, at - 1, kind)", "(kind, start, at)"): r"exercise 11\.2",
        TAGS.replace("at - 1", "at"): r"Give its last word",
        TAGS.replace("(start, at - 1, kind)", "(kind, start, at - 1)"): r"type comes last",
        TAGS.replace('[*tags, "O"]', "tags"): r"last word is lost",
        TAGS.replace("letter == begin", "letter"): r"continues no entity",
    },
    "11.12": {
        AS_GIVEN: r"as it was",
        SCORES.replace("set(a) & set(b)", "{x[1:] for x in a} & {x[1:] for x in b}"): r"wrong type counts|as it was",
        SCORES.replace("set(a) & set(b)", "{x[:2] for x in a} & {x[:2] for x in b}"): r"wrong end counts|as it was",
        SCORES.replace("hits / given if given", "hits / wanted if wanted"): r"share of what was found|as it was",
        SCORES.replace("hits / wanted if wanted", "hits / given if given"): r"share of the gold|as it was",
    },
}
PUBLIC = {"11.11": "11.2"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "begin": found(r"first word of an entity has the tag `person.(\w)`", text),
        "inside": found(r"each further word `person.(\w)`", text),
        "sign": found(r"the tag `person(.)", text),
    }
