"""Answers to exercise 11.2: right ones, and mistakes with the words that they must hear."""

from bertedu.finetuning.spans import tag_spans

# 11.2 ------------------------------------------------------------------------------------------------------------


def with_open_one(tags):
    found, open_one = [], None
    for place, tag in enumerate([*tags, "O"]):
        position, _, kind = tag.partition("-")
        if open_one and not (position == "I" and kind == open_one[0]):
            found.append((*open_one, place))
            open_one = None
        if tag != "O" and open_one is None:
            open_one = (kind, place)
    return found


def as_lists(tags):
    return [list(span) for span in tag_spans(tags)]


def last_included(tags):
    return [(kind, start, end - 1) for kind, start, end in with_open_one(tags)]


def loses_the_last(tags):
    return [span for span in with_open_one(tags) if span[2] < len(tags)]


def merges(tags):
    found, before = [], "O"
    for place, tag in enumerate(tags):
        if tag != "O" and before != "O" and before[2:] == tag[2:]:
            found[-1] = (*found[-1][:2], place + 1)
        elif tag != "O":
            found.append((tag[2:], place, place + 1))
        before = tag
    return found


def blind_to_types(tags):
    found, inside = [], False
    for place, tag in enumerate(tags):
        if tag[0] == "B" or (tag[0] == "I" and not inside):
            found.append((tag[2:], place, place + 1))
        elif tag[0] == "I":
            found[-1] = (*found[-1][:2], place + 1)
        inside = tag != "O"
    return found


def strict_reader(tags):
    found, before = [], "O"
    for place, tag in enumerate(tags):
        if tag[0] == "B":
            found.append((tag[2:], place, place + 1))
        elif tag[0] == "I" and before[2:] == tag[2:] and before != "O":
            found[-1] = (*found[-1][:2], place + 1)
        else:
            tag = "O"
        before = tag
    return found


def word_by_word_alone(tags):
    return [(tag[2:], place, place + 1) for place, tag in enumerate(tags) if tag != "O"]


def with_lengths(tags):
    return [(kind, start, end - start) for kind, start, end in with_open_one(tags)]


def type_last(tags):
    return [(start, end, kind) for kind, start, end in with_open_one(tags)]


def splits_at_the_hyphen(tags):
    found = []
    for place, tag in enumerate(tags):
        position, kind = tag.split("-")
        if position == "B":
            found.append((kind, place, place + 1))
    return found


def as_a_generator(tags):
    yield from with_open_one(tags)


def with_the_hyphen(tags):
    return [(tags[start], start, end) for _, start, end in with_open_one(tags)]


def counts_from_one(tags):
    return [(kind, start + 1, end + 1) for kind, start, end in with_open_one(tags)]


def b_closes_nothing(tags):
    found, open_one = [], None
    for place, tag in enumerate([*tags, "O"]):
        if tag == "O" and open_one:
            found.append((*open_one, place))
            open_one = None
        elif tag[0] == "B" or (tag[0] == "I" and open_one is None):
            open_one = (tag[2:], place)
    return found


ANSWERS = {
    "11.2": {
        "accepted": [with_open_one, as_a_generator],
        "wrong": [
            (as_lists, "uses the package's `tag_spans`"),
            (tag_spans, "the package's own"),
            (last_included, "AFTER the entity"),
            (word_by_word_alone, "Every word has become an entity"),
            (loses_the_last, "ends with the last word is lost"),
            (merges, "B- always begins"),
            (blind_to_types, "An entity has one type"),
            (strict_reader, "continues nothing"),
            (with_lengths, "is a length"),
            (type_last, "The type comes first"),
            (splits_at_the_hyphen, "has no hyphen"),
            (with_the_hyphen, "person, not B-person"),
            (counts_from_one, "You count from 1"),
            (b_closes_nothing, "is lost where the next one begins"),
        ],
    }
}
