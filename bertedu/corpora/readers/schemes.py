"""How tags say where an entity begins and ends: BIO, and other schemes, which can be read as BIO."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

from bertedu.corpora.readers.doubts import warn_of_likenesses
from bertedu.corpora.readers.values import label_value
from bertedu.errors import UserError, shown

# What each letter of a scheme says, in the letters of BIOES: an entity begins, goes on, ends, or is a single word.
SCHEMES = {
    "BIO": {"B": "B", "I": "I"},
    "BIOES": {"B": "B", "I": "I", "E": "E", "S": "S"},
    "BILOU": {"B": "B", "I": "I", "L": "E", "U": "S"},
    "BMES": {"B": "B", "M": "I", "E": "E", "S": "S"},
}
IGNORED = -100  # of a loss, for the pieces of a word after its first
IN_BIO = {"B": "B", "I": "I", "E": "I", "S": "B"}
Tags = tuple[Sequence[str], Sequence[Any]]  # of a sentence: where each tag stands, and the tags


def tags_of_file(
    sentences: Sequence[Tags], scheme: str | None, labels: Collection[str] | None
) -> list[tuple[str, ...]]:
    """The tags of all sentences of a file, each checked with its neighbours. Asked for BIO, they come as BIO also where
    they are written as IOB1, BIOES, BILOU or BMES. Raises UserError for a tag that breaks its scheme.
    """
    written = scheme
    if scheme == "BIO":
        every = [[tag for tag in tags if isinstance(tag, str)] for _, tags in sentences]
        letters = {tag[0] for tags in every for tag in tags if tag[1:2] == "-"}
        written = next((name for name, roles in SCHEMES.items() if letters <= roles.keys()), scheme)
        if written == "BIO" and in_iob1(every):
            sentences = [(places, as_bio(list(tags))) for places, tags in sentences]
    known = labels if written == scheme else None
    found = [tag_values(tags, places, written, known) for places, tags in sentences]
    warn_of_likenesses(
        (step for (places, _), tags in zip(sentences, found, strict=True) for step in zip(places, tags, strict=True)),
        "tags",
    )
    if written == scheme:
        return found
    roles = SCHEMES[str(written)]
    both = zip(sentences, found, strict=True)
    as_asked = [
        (places, [IN_BIO[roles[tag[0]]] + tag[1:] if tag != "O" else tag for tag in tags]) for (places, _), tags in both
    ]
    return [tag_values(tags, places, scheme, labels) for places, tags in as_asked]


def in_iob1(sentences: Sequence[Sequence[str]]) -> bool:
    """Whether the tags are those of IOB1 (Ramshaw & Marcus 1995) and not of BIO.

    There an entity begins with I-, and with B- only directly after another of its type: so each B- stands there.
    """
    steps = [step for tags in sentences for step in pairwise(["O", *tags])]
    return all(goes_on(*step) for step in steps if step[1].startswith("B-"))


def as_bio(tags: Sequence[Any]) -> list[Any]:
    """IOB1's tags of a sentence with B- at the beginning of every entity."""
    steps = pairwise(["O", *tags])
    return [f"B-{tag[2:]}" if is_inside(tag) and not goes_on(before, tag) else tag for before, tag in steps]


def is_inside(tag: Any) -> bool:
    """Whether a tag begins with I-."""
    return isinstance(tag, str) and tag.startswith("I-")


def goes_on(before: Any, tag: str) -> bool:
    """Whether the word before is in an entity of the same type."""
    return isinstance(before, str) and before[:2] in ("B-", "I-") and before[2:] == tag[2:]


def tag_values(
    tags: Sequence[Any], places: Sequence[str], scheme: str | None, labels: Collection[str] | None = None
) -> tuple[str, ...]:
    """The tags of a sentence, each checked with its neighbours; `places` say where each stands."""
    found: list[str] = []
    for tag, place in zip(tags, places, strict=True):
        found.append(tag_value(tag, place, scheme, labels, found[-1] if found else "O"))
    if scheme is not None and "E" in SCHEMES[scheme].values():
        for tag, after, place in zip(found, [*found[1:], None], places, strict=True):
            refuse_open_entity(tag, after, place, scheme)
    return tuple(found)


def refuse_open_entity(tag: str, after: str | None, place: str, scheme: str) -> None:
    """Raise UserError for a tag in an entity, but not at its end, where the next neither goes on nor ends it."""
    letters = {role: letter for letter, role in SCHEMES[scheme].items()}
    letter, _, kind = tag.partition("-")
    if letter not in (letters["B"], letters["I"]) or after in (f"{letters['I']}-{kind}", f"{letters['E']}-{kind}"):
        return
    where = "at the end of the sentence" if after is None else f"before the tag {shown(after)}"
    alone = f"'{letters['S']}-{kind}' for one word alone, or end it with " if letter == letters["B"] else ""
    raise UserError(
        f"{place}: the tag {shown(tag)} leaves its entity open {where}: write {alone}'{letters['E']}-{kind}'."
    )


def tag_value(
    tag: Any, place: str, scheme: str | None = "BIO", labels: Collection[str] | None = None, before: str = "O"
) -> str:
    """A tag of a scheme (such as BIO: O, B-type, I-type), or of any form where the scheme is None.

    before is the tag of the word before: a tag that goes on with an entity, or ends it, must have one of its type
    before it, since a CRF that knows this rule can never learn a sentence that breaks it.
    """
    if tag in (IGNORED, str(IGNORED)):
        raise UserError(f"{place}: the tag is {IGNORED}, which marks what is not to be learned: leave such words out.")
    name = label_value(tag, place, labels, "tag")
    if scheme is None or name == "O":
        return name
    if scheme not in SCHEMES:
        raise UserError(f"scheme: {scheme!r} is none: choose {', '.join(map(repr, SCHEMES))}, or None for any tags.")
    letters = SCHEMES[scheme]
    letter, dash, kind = name.partition("-")
    if letter not in letters or not dash or not kind.strip():
        forms = ", ".join(f"{one}-type" for one in letters)
        raise UserError(
            f"{place}: the tag {shown(name)} is not of the scheme {scheme}: write O or {forms}, "
            "or choose the task tagging (in Python scheme=None) for tags of any form."
        )
    opened = [f"{one}-{kind}" for one, role in letters.items() if role in "BI"]
    if letters[letter] in "IE" and before not in opened:
        raise UserError(
            f"{place}: the tag {shown(name)} goes on with nothing, after the tag {shown(before)}: begin the entity "
            f"with 'B-{kind}'."
        )
    return name
