"""Answers to exercise 7.4: right ones, and mistakes with the words that they must hear."""

import random


def by_a_coin(first, second, rng):
    label = rng.randint(0, 1)
    return (*((second, first) if label else (first, second)), label)


def as_a_list(first, second, rng):
    pair = [first, second]
    rng.shuffle(pair)
    return [*pair, pair[0] is not first]


def never(first, second, rng):
    return first, second, 0


def always(first, second, rng):
    return second, first, 1


CALLS = {"alternating": 0, "two by two": 0}


def alternating(first, second, rng):
    CALLS["alternating"] += 1
    return (second, first, 1) if CALLS["alternating"] % 2 else (first, second, 0)


def two_by_two(first, second, rng):
    CALLS["two by two"] += 1
    return (second, first, 1) if CALLS["two by two"] // 2 % 2 else (first, second, 0)


def by_the_global_coin_swapped(first, second, rng):
    return (second, first, 1) if random.random() < 0.5 else (first, second, 0)


def by_choice(first, second, rng):
    return rng.choice([(first, second, False), (second, first, True)])


def label_reversed(first, second, rng):
    one, other, label = by_a_coin(first, second, rng)
    return one, other, 1 - label


def label_forgotten(first, second, rng):
    return by_a_coin(first, second, rng)[:2]


def tokens_reversed(first, second, rng):
    return (first[::-1], second[::-1], 1) if rng.random() < 0.5 else (first, second, 0)


def too_often(first, second, rng):
    return (first, second, 0) if rng.random() < 0.15 else (second, first, 1)


def shares_one_list(first, second, rng):
    return (second, second, 1) if rng.random() < 0.5 else (first, second, 0)


def rng_as_a_number(first, second, rng):
    return (second, first, 1) if rng < 0.5 else (first, second, 0)


def label_as_text(first, second, rng):
    return (second, first, "1") if rng.random() < 0.5 else (first, second, "0")


ANSWERS = {
    "7.4": {
        "accepted": [by_a_coin, as_a_list, by_choice],
        "wrong": [
            (never, "never swapped"),
            (always, "always swapped"),
            (label_reversed, "1 means swapped"),
            (rng_as_a_number, "rng.random() draws one"),
            (label_as_text, "should be 0 or 1"),
            (label_forgotten, "3 are asked for"),
            (tokens_reversed, "leave each of them as it is"),
            (too_often, "about half should be"),
            (alternating, "in strict alternation"),
            (two_by_two, "with the same seed"),
            (by_the_global_coin_swapped, "with the same seed"),
            (shares_one_list, "both segments, unchanged"),
        ],
    }
}
