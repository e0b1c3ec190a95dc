"""Answers to the drill whole-words: right ones, and mistakes with the words that they must hear."""

import random

SPECIAL = {"[CLS]", "[SEP]", "[PAD]"}


def collect(tokens, special=SPECIAL):
    words = []
    for position, token in enumerate(tokens):
        if token in special:
            continue
        if token.startswith("##"):
            words[-1].append(position)
        else:
            words.append([position])
    return words


def take(words, length, number):
    chosen = [False] * length
    for word in words:
        if sum(chosen) + len(word) <= number:
            for position in word:
                chosen[position] = True
    return chosen


def plainly(tokens, number, rng):
    words = collect(tokens)
    rng.shuffle(words)
    return take(words, len(tokens), number)


def by_word_numbers(tokens, number, rng):
    word_of, count = [], 0
    for token in tokens:
        count += token not in SPECIAL and not token.startswith("##")
        word_of.append(None if token in SPECIAL else count)
    left, chosen = number, set()
    for word in rng.sample(range(1, count + 1), count):
        if word_of.count(word) <= left:
            chosen.add(word)
            left -= word_of.count(word)
    return tuple(word in chosen for word in word_of)


def with_random_keys(tokens, number, rng):
    ordered = sorted(collect(tokens), key=lambda word: rng.random())
    return [int(chosen) for chosen in take(ordered, len(tokens), number)]


def token_by_token(tokens, number, rng):
    places = [place for place, token in enumerate(tokens) if token not in SPECIAL]
    chosen = set(rng.sample(places, min(number, len(places))))
    return [place in chosen for place in range(len(tokens))]


def stops_at_the_first(tokens, number, rng):
    words = collect(tokens)
    rng.shuffle(words)
    chosen = [False] * len(tokens)
    for word in words:
        if sum(chosen) + len(word) > number:
            break
        for position in word:
            chosen[position] = True
    return chosen


def over_the_number(tokens, number, rng):
    words = collect(tokens)
    rng.shuffle(words)
    chosen = [False] * len(tokens)
    for word in words:
        if sum(chosen) < number:
            for position in word:
                chosen[position] = True
    return chosen


def cuts_the_last(tokens, number, rng):
    words = collect(tokens)
    rng.shuffle(words)
    flat = [position for word in words for position in word][:number]
    return [position in flat for position in range(len(tokens))]


def counts_words(tokens, number, rng):
    words = collect(tokens)
    flat = [position for word in rng.sample(words, min(number, len(words))) for position in word]
    return [position in flat for position in range(len(tokens))]


def special_too(tokens, number, rng):
    words = collect(tokens, special=set())
    rng.shuffle(words)
    return take(words, len(tokens), number)


def in_order(tokens, number, rng):
    return take(collect(tokens), len(tokens), number)


def own_random(tokens, number, rng):
    words = collect(tokens)
    random.shuffle(words)
    return take(words, len(tokens), number)


def positions(tokens, number, rng):
    return [position for position, chosen in enumerate(plainly(tokens, number, rng)) if chosen]


def shortest_first(tokens, number, rng):
    words = collect(tokens)
    rng.shuffle(words)
    return take(sorted(words, key=len), len(tokens), number)


def first_pieces_only(tokens, number, rng):
    words = [[place] for place, token in enumerate(tokens) if token not in SPECIAL and not token.startswith("##")]
    rng.shuffle(words)
    return take(words, len(tokens), number)


def rotated(tokens, number, rng):
    words = collect(tokens)
    first = rng.randrange(3) if words else 0
    return take(words[first:] + words[:first], len(tokens), number)


ANSWERS = {
    "whole-words": {
        "accepted": [plainly, by_word_numbers, with_random_keys],
        "wrong": [
            (token_by_token, "or none: collect the positions"),
            (stops_at_the_first, "and not `break`"),
            (over_the_number, "only if all of its pieces still fit"),
            (cuts_the_last, "cut to the number"),
            (counts_words, "You count words"),
            (special_too, "which is no word"),
            (in_order, "Shuffle the words"),
            (own_random, "the same seed gave two results"),
            (positions, "one boolean for each"),
            (shortest_first, "was never chosen"),
            (first_pieces_only, "All pieces of a word"),
            (rotated, "was never chosen"),
        ],
    },
}
