"""Answers to exercise 7.2: right ones, and mistakes with the words that they must hear."""

import random

from bertedu.pretraining.sentence_pairs import truncate


def by_popping(first, second, most, rng):
    while len(first) + len(second) > most:
        longer = first if len(first) > len(second) else second
        longer.pop(0 if rng.random() < 0.5 else -1)
    return first, second


def with_the_package(first, second, most, rng):
    (a, b), (c, d) = truncate((0, len(first)), (0, len(second)), most, rng)
    return [first[a:b], second[c:d]]


def with_a_choice(first, second, most, rng):
    while len(first) + len(second) > most:
        end = rng.choice(["front", "back"])
        if len(first) >= len(second):
            first = first[1:] if end == "front" else first[:-1]
        else:
            second = second[1:] if end == "front" else second[:-1]
    return first, second


def only_the_end(first, second, most, rng):
    while len(first) + len(second) > most:
        (first if len(first) > len(second) else second).pop()
    return first, second


def only_the_second(first, second, most, rng):
    return first, second[: max(0, most - len(first))]


def only_the_first(first, second, most, rng):
    return first[: max(0, most - len(second))], second


def longer_at_the_start(first, second, most, rng):
    longer = first if len(first) > len(second) else second
    while len(first) + len(second) > most and longer:
        longer.pop(0 if rng.random() < 0.5 else -1)
    return first, second


def counts_special_tokens(first, second, most, rng):
    return by_popping(first, second, most - 3, rng)


def one_too_many(first, second, most, rng):
    return by_popping(first, second, most + 1, rng)


def one_coin(first, second, most, rng):
    end = 0 if rng.random() < 0.5 else -1
    while len(first) + len(second) > most:
        (first if len(first) > len(second) else second).pop(end)
    return first, second


def from_anywhere(first, second, most, rng):
    while len(first) + len(second) > most:
        longer = first if len(first) > len(second) else second
        longer.pop(rng.randrange(len(longer)))
    return first, second


def changes_the_order(first, second, most, rng):
    first, second = by_popping(first, second, most, rng)
    return (first, second) if len(first) >= len(second) else (second, first)


def prints_only(first, second, most, rng):
    by_popping(first, second, most, rng)


def with_max(first, second, most, rng):
    while len(first) + len(second) > most:
        max(first, second, key=len).pop(rng.choice([0, -1]))
    return first, second


def by_the_global_coin(first, second, most, rng):
    return by_popping(first, second, most, random)


def by_value(first, second, most, rng):
    while len(first) + len(second) > most:
        longer = first if len(first) > len(second) else second
        longer.remove(longer[0] if rng.random() < 0.5 else longer[-1])
    return first, second


def ignoring_the_rng(first, second, most, rng):
    return by_popping(first, second, most, random.Random(3))


def shorter_first(first, second, most, rng):
    while len(first) + len(second) > most:
        if rng.random() < 0.5 and first:
            first = first[1:]
        else:
            second = second[:-1]
    return first, second


def by_tokens(first, second, most, rng):
    while len(first) + len(second) > most:
        max(first, second).pop(0 if rng.random() < 0.5 else -1)
    return first, second


def rng_called(first, second, most, rng):
    while len(first) + len(second) > most:
        max(first, second, key=len).pop(0 if rng() < 0.5 else -1)
    return first, second


ANSWERS = {
    "7.2": {
        "accepted": [by_popping, with_the_package, with_a_choice, with_max],
        "wrong": [
            (only_the_end, "always removed at the end"),
            (only_the_second, "6 and 1 tokens came back: tokens were removed from the second segment only."),
            (only_the_first, "tokens were removed from the first segment only."),
            (longer_at_the_start, "compare again each time"),
            (counts_special_tokens, "leave room for [CLS]"),
            (one_too_many, "Stop as soon as both together are short enough"),
            (one_coin, "once for a pair"),
            (from_anywhere, "not next to each other"),
            (changes_the_order, "return the segments in their order"),
            (prints_only, "2 things are asked for"),
            (ignoring_the_rng, "come from `rng`"),
            (by_the_global_coin, "come from `rng`"),
            (shorter_first, "and 3 and 4 are expected"),
            (by_value, "not next to each other"),
            (by_tokens, "alone compares the tokens"),
            (rng_called, "rng.random() draws one"),
        ],
    }
}
