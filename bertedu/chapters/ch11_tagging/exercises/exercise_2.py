"""Exercise 11.2: From tags to entities."""

from collections.abc import Generator, Sequence
from typing import Any

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.finetuning.spans import tag_spans


def spans_so(tags: Sequence[str], inclusive=False, lost=False, merged=False, typeless=False, strict=False) -> list:
    """Spans, and ways in which they go wrong."""
    found: list[list[Any]] = []
    previous = "O"
    for i, tag in enumerate(tags):
        position, _, kind = tag.partition("-")
        goes_on = previous != "O" and (position == "I" or merged) and (typeless or previous[2:] == kind)
        if tag == "O" or (strict and position == "I" and not goes_on):
            previous = "O"
            continue
        if goes_on:
            found[-1][2] = i + 1
        else:
            found.append([kind, i, i + 1])
        previous = tag
    if lost and found and found[-1][2] == len(tags):
        found.pop()
    return [(kind, start, end - inclusive) for kind, start, end in found]


@exercise(
    "11.2",
    "From tags to entities",
    difficulty=2,
    minutes=12,
    without=("tag_spans",),
    hints=(
        "Go from word to word, and remember type and first word of the entity that you are in. Which tags end it?",
        "Only I- of the same type continues an entity. Every other tag ends it, and B- or I- begins the next one. "
        "What ends an entity that is still open after the last word?",
    ),
)
def spans(case: Case) -> None:
    """Entities at the end, next to each other, of two types in sequence, and broken tags."""
    case.causes = {
        "not enough values to unpack": 'The tag "O" has no hyphen. `tag.partition("-")` always gives three parts.'
    }
    cases = [
        (["B-person", "I-person", "O", "B-place", "O"], "a sentence with a person of two words and a place"),
        (["O", "B-place", "I-place"], "a sentence that ends with a place"),
        (["B-person", "B-person", "O"], "two persons next to each other"),
        (["B-person", "I-place", "O"], "a B-person and an I-place"),
        (["O", "I-place", "I-place", "O"], "an I-place without a beginning"),
        (["O", "O"], "a sentence without an entity"),
        (["B-person", "I-person", "B-person", "I-place", "I-place", "B-place"], "six words and no O"),
    ]
    for tags, tried in cases:
        got = case.call(tags, tried=f"{tried}: {' '.join(tags)}")
        got = list(got) if isinstance(got, Generator) else got
        case.is_a("the result", got, list | tuple, "a list of (type, first word, word after the last)")
        right = [tuple(span) for span in tag_spans(tags)]
        mistakes = [
            (
                [(kind, start, end - start) for kind, start, end in tag_spans(tags)],
                "The last number is a length. Give the end.",
            ),
            (
                [(*span[1:], span[0]) for span in right],
                "The type comes first: (type, first word, word after the last).",
            ),
            (spans_so(tags, inclusive=True), "The last number is the word AFTER the entity, as in tags[start:end]."),
            (spans_so(tags, lost=True), "The entity that ends with the last word is lost."),
            (
                spans_so(tags, merged=True),
                "B- always begins a new entity, also directly after another one of the same type.",
            ),
            (
                [(tag[2:], i, i + 1) for i, tag in enumerate(tags) if tag != "O"],
                "Every word has become an entity. I- continues the entity of the word before.",
            ),
            (spans_so(tags, typeless=True), "An entity has one type, so I- of another type can't continue it."),
            (
                [(f"B-{kind}", start, end) for kind, start, end in right],
                "The type is the part of the tag after the hyphen: person, not B-person.",
            ),
            (
                [(kind, start + 1, end + 1) for kind, start, end in right],  # type: ignore[operator]
                "You count from 1. The first word of the sentence has the number 0.",
            ),
            (
                [span for span in right if span[2] not in [start for _, start, _ in right]],
                "An entity is lost where the next one begins directly after it.",
            ),
            (
                spans_so(tags, strict=True),
                "In the CoNLL evaluation an I- that continues nothing begins a new entity.",
            ),
        ]
        known = [(wrong, said) for wrong, said in mistakes if wrong != right]
        got = [tuple(span) if isinstance(span, list | tuple) else span for span in got]
        case.equal("the list", got, right, "Where does each entity begin, and which tag ends it?", mistakes=known)
