"""Answers to exercise 12.3: right ones, and mistakes with the words that they must hear."""

import torch

# 12.3 ------------------------------------------------------------------------------------------------------------


def shared(offsets, start, end):
    found = [number for number, (s, e) in enumerate(offsets) if s < end and e > start]
    return found[0], found[-1]


def from_both_sides(offsets, start, end):
    first = next(i for i in range(len(offsets)) if offsets[i][1] > start)
    last = next(i for i in reversed(range(len(offsets))) if offsets[i][0] < end)
    return [first, last]


def equal_only(offsets, start, end):
    return [s for s, _ in offsets].index(start), [e for _, e in offsets].index(end)


def only_the_first(offsets, start, end):
    return (shared(offsets, start, end)[0],)


def one_too_far(offsets, start, end):
    first, last = shared(offsets, start, end)
    return first, last + 1


def touching(offsets, start, end):
    found = [number for number, (s, e) in enumerate(offsets) if s <= end and e >= start]
    return found[0], found[-1]


def with_cls(offsets, start, end):
    first, last = shared(offsets, start, end)
    return first + 1, last + 1


def first_and_number(offsets, start, end):
    first, last = shared(offsets, start, end)
    return first, last - first + 1


def first_twice(offsets, start, end):
    return shared(offsets, start, end)[0], shared(offsets, start, end)[0]


def characters(offsets, start, end):
    return start, end


def token_of_a_character(offsets, position):
    return next(number for number, (s, e) in enumerate(offsets) if s <= position < e)


def characters_looked_up(offsets, start, end):
    """Raises StopIteration at a space, which belongs to no token."""
    return token_of_a_character(offsets, start), token_of_a_character(offsets, end - 1)


def never_set(offsets, start, end):
    """Leaves None where the answer begins with a space."""
    first = last = None
    for number, (s, e) in enumerate(offsets):
        if s <= start < e:
            first = number
        if s < end <= e:
            last = number
    return first, last


def last_that_begins(offsets, start, end):
    """The first token is the last one that begins at the answer's start or earlier: wrong at a space."""
    first = max(number for number, (s, _) in enumerate(offsets) if s <= start)
    return first, shared(offsets, start, end)[1]


def first_that_ends(offsets, start, end):
    """The last token is the first one that ends at the answer's end or later: wrong at a space."""
    return shared(offsets, start, end)[0], min(n for n, (_, e) in enumerate(offsets) if e >= end)


def as_arrays(offsets, start, end):
    begins, ends = torch.tensor(offsets).T
    return (ends > start).nonzero()[0], (begins < end).nonzero()[-1]


ANSWERS = {
    "12.3": {
        "accepted": [shared, from_both_sides, as_arrays],
        "wrong": [
            (equal_only, "an answer that is only a part of a token"),
            (equal_only, "You look for a token that begins or ends exactly there"),
            (only_the_first, "it returned 1 thing, and 2 are asked for"),
            (one_too_far, "one too far"),
            (touching, "one too far"),
            (with_cls, "[CLS] is not in this list"),
            (first_and_number, "how many tokens the answer has"),
            (first_twice, "Where does the answer end?"),
            (characters, "positions of characters"),
            (characters_looked_up, "an answer that begins with a space"),
            (never_set, "the first token should be a whole number"),
            (last_that_begins, "Character 4 is a space"),
            (first_that_ends, "an answer that ends with a space"),
        ],
    }
}
