"""Exercises 11.1 to 11.3 and 11.5: entities, labels of pieces. Exercise 11.4 is in chapter_11_viterbi.py."""

from collections.abc import Generator, Sequence
from typing import Any

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.finetuning.spans import tag_spans

IGNORED = -100
NUMBERS_ONLY = "None can't be a label in a tensor. The number that the loss ignores is -100."


@exercise(
    "11.1",
    "Nine words of ten",
    difficulty=1,
    minutes=5,
    kind="value",
    hints=(
        "Write the entities of both tag sequences as (type, first word, word after the last). How many are in both "
        "lists?",
        "One of the two found entities is right: precision ½. One of the two gold entities was found: recall ½.",
    ),
)
def nine_of_ten(case: Case) -> None:
    """One of two entities is right, in the gold tags and in the model's: 0.5."""
    case.predicted(
        0.5,
        otherwise="Count whole entities. How many are gold, how many did the model find, and how many are both?",
        mistakes=[
            (0.9, "0.9 is the accuracy over words. Which whole entities are right?"),
            (
                0.75,
                "There are no half points. Rose Whitaker is missed, and the found entity Rose is wrong.",
            ),
            (1, "Rose Whitaker was not found: the model says that the name is Rose alone."),
            (6 / 7, "That is F1 over the words of names. An entity counts as a whole, or not at all."),
            (2 / 3, "Precision counts too: the model found the entity Rose, and that is not a gold entity."),
            (0, "Lake Garda was found, with the right type and the right boundaries."),
            (50, "Write it as a share between 0 and 1."),
            (0.25, "That is precision times recall. F1 is 2 P R / (P + R)."),
            (1 / 3, "That is the number of right entities divided by all different ones. F1 is 2 P R / (P + R)."),
        ],
    )


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


def aligned(pieces: Sequence[Sequence[int]], labels: Sequence[int], rest: str = "ignored") -> list[int]:
    """Labels of [CLS], all pieces and [SEP], and ways in which they go wrong."""
    inside: list[int] = []
    for ids, label in zip(pieces, labels, strict=True):
        others = [IGNORED] * (len(ids) - 1)
        if rest == "last":
            inside += [*others, label]
        elif rest == "all":
            inside += [label] * len(ids)
        elif rest == "zero":
            inside += [label] + [0] * len(others)
        elif rest == "more":
            inside += [label, *others, IGNORED]
        else:
            inside += [label, *others]
    if rest == "early":
        inside = list(labels) + [IGNORED] * (sum(map(len, pieces)) - len(labels))
    edge = 0 if rest == "edges" else IGNORED
    return [edge, *inside, edge]


@exercise(
    "11.3",
    "A label for every piece",
    difficulty=2,
    minutes=10,
    hints=(
        "A word of three pieces needs three labels. Which of them should count in the loss?",
        "Begin with [-100] for [CLS]. For each word add its label, and -100 for each of its other pieces. End with "
        "-100 for [SEP].",
    ),
)
def piece_labels(case: Case) -> None:
    """Words of one, two and three pieces; no word split; all split."""
    case.causes = {
        "can only concatenate list": "A list can be added to a list only: `found += [label]`.",
        "'int' object is not iterable": "To add one number to a list, use `append`, or `+= [label]`.",
    }
    cases = [
        ([[17], [52, 9, 8], [4, 30], [5]], [0, 1, 2, 0], "4 words of 1, 3, 2 and 1 pieces"),
        ([[7], [8]], [3, 0], "2 words of one piece"),
        ([[6, 6, 6]], [1], "one word of 3 pieces"),
    ]
    for pieces, labels, tried in cases:
        got = case.call(pieces, labels, tried=tried)
        got = got.tolist() if hasattr(got, "tolist") else got
        case.is_a("the result", got, list | tuple, "a list of numbers")
        if any(isinstance(entry, list | tuple) for entry in got):
            case.fail("But the list contains lists.", "Make one flat list: `+=` or `extend` instead of `append`.")
        total = sum(map(len, pieces)) + 2
        right = aligned(pieces, labels)
        if list(got) == right[1:-1]:
            case.almost("All pieces are right. But [CLS] and [SEP] are tokens too, and they need the label -100.")
        for name, without in (("[CLS]", right[1:]), ("[SEP]", right[:-1])):
            if list(got) == without:
                case.almost(f"All pieces are right. But {name} is a token too, and it needs the label -100.")
        if len(got) in (len(labels), len(labels) + 2) and total != len(labels) + 2:
            case.fail(
                f"But there are {len(got)} labels, and the model sees {total} tokens: {total - 2} pieces, [CLS] and "
                "[SEP].",
                "Give each piece a label, not only each word.",
            )
        mistakes = [
            (
                aligned(pieces, labels, "all"),
                "Every piece has the word's label. Here only the first piece should count in the loss.",
            ),
            (aligned(pieces, labels, "last"), "The label is at the last piece of each word. Put it at the first."),
            (
                aligned(pieces, labels, "early"),
                "The labels follow each other as if no word were split, so after the first split word each of them "
                "is too early.",
            ),
            (
                aligned(pieces, labels, "zero"),
                "0 is the number of a tag (here O), so the model would learn it. The loss ignores -100.",
            ),
            ([-1 if label == IGNORED else label for label in right], "cross_entropy ignores -100, not -1."),
            ([None if label == IGNORED else label for label in right], NUMBERS_ONLY),
            ([IGNORED, *[None if label == IGNORED else label for label in right[1:-1]], IGNORED], NUMBERS_ONLY),
            (aligned(pieces, labels, "more"), "One -100 too many: a word of n pieces has n - 1 other pieces."),
            (
                aligned(pieces, labels, "edges"),
                "[CLS] and [SEP] are not words. With 0 the model would learn the tag O there.",
            ),
        ]
        known = [(wrong, said) for wrong, said in mistakes if wrong != right]
        case.equal(
            "the list", list(got), right, "For each word: its label, then -100 for its other pieces.", mistakes=known
        )


@exercise(
    "11.5",
    "Read the right pieces",
    difficulty=3,
    minutes=12,
    hints=(
        "first_pieces has a 1 where a word begins. Which entries of piece_tags belong to these positions?",
        "[tag for tag, first in zip(piece_tags, first_pieces) if first], and an O for each word without a piece.",
    ),
)
def word_tags(case: Case) -> None:
    """Split words, no split word, and a sentence that was cut off."""
    case.causes = {
        "out of range": "There may be more words than first pieces: a long sentence is cut off. Those words get O."
    }
    cases = [
        (list("cabcdefg"), [0, 1, 1, 0, 0, 1, 1, 0], 4, "4 words of 1, 3, 1 and 1 pieces"),
        (list("xpqy"), [0, 1, 1, 0], 2, "2 words of one piece"),
        (list("xrstuy"), [0, 1, 0, 1, 0, 0], 2, "2 words of 2 pieces each"),
        (["c", "B-place", "I-place", "s"], [0, 1, 1, 0], 4, "4 words of which only 2 fit in"),
    ]
    for tags, first, words, tried in cases:
        got = case.call(tags, first, words, tried=tried)
        got = got.tolist() if hasattr(got, "tolist") else got
        case.is_a("the result", got, list | tuple, "a list of tags")
        right = [tag for tag, one in zip(tags, first, strict=True) if one]
        if list(got) == right and len(right) < words:
            case.almost(
                f"There are {words} words, and you return {len(right)} tags. The other words were cut off before the "
                "model saw them. They need a tag too, or the lists don't fit together in the score. Give them O."
            )
        filled = right
        right = filled + ["O"] * (words - len(filled))
        last = [tag for tag, ends_word in zip(tags, [*first[1:], 1], strict=True) if ends_word][1:]
        ends = [i for i in range(1, len(tags) - 1) if first[i + 1] or i == len(tags) - 2]
        mistakes = [
            (
                tags[1 : 1 + words],
                "That is the colleague's version: one piece for each word, as if no word were split.",
            ),
            (tags[:words], "The first tag is that of [CLS], which is not a word. And a word may have several pieces."),
            (tags[1:-1], "That is a tag for every piece. Each word gets the tag of its first piece."),
            (
                [tags[i] for i in ends],
                "These are the tags of the last pieces. The model was trained with labels at the first pieces.",
            ),
            ([tag for tag, one in zip(tags, first, strict=True) if not one], "These are the tags of all other pieces."),
            (
                [tag if one else "O" for tag, one in zip(tags, first, strict=True)],
                "That is a tag for every token. Leave out those that are not the first piece of a word.",
            ),
            ([*filled, *[None] * (words - len(filled))], "Words without a piece need a tag too. Give them O."),
            (
                [tag for tag, one in zip(tags[1:], first, strict=False) if one] + ["O"] * (words - len(filled)),
                "Your two lists are shifted by one: first_pieces has an entry for [CLS] too, as piece_tags has.",
            ),
            (last, "These are the tags of the last pieces. The model was trained with labels at the first pieces."),
        ]
        known = [(wrong, said) for wrong, said in mistakes if wrong != right]
        case.equal("the list", list(got), right, "One tag for each word: that of its first piece.", mistakes=known)
