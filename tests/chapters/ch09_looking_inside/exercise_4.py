"""Answers to exercise 9.4: right ones, and mistakes with the words that they must hear."""

import hashlib
import random
import zlib

import numpy as np
import torch

from bertedu.interpretation.probing import control_labels


def seeded_by_the_word(words, number_of_labels, seed=0):
    return [random.Random(f"{word.lower()}/{seed}").randrange(number_of_labels) for word in words]


def a_generator_for_each_type(words, number_of_labels, seed):
    label = {}
    for word in {word.lower() for word in words}:
        generator = torch.Generator().manual_seed(1000003 * seed + int.from_bytes(word.encode(), "big") % 2**31)
        label[word] = torch.randint(number_of_labels, (), generator=generator).item()
    return [label[word.lower()] for word in words]


def by_a_digest(words, number_of_labels, seed=0):
    return [int(hashlib.sha256(f"{seed} {word.lower()}".encode()).hexdigest(), 16) % number_of_labels for word in words]


def by_hash(words, number_of_labels, seed=0):
    return [random.Random(hash((word.lower(), seed))).randrange(number_of_labels) for word in words]


def by_hash_of_numbers(words, number_of_labels, seed=0):
    numbers = [zlib.crc32(f"{seed}:{word.lower()}".encode()) for word in words]
    return [random.Random(hash((number, 0.5))).randrange(number_of_labels) for number in numbers]


def by_hash_alone(words, number_of_labels, seed=0):
    return [hash(word.lower() + str(seed)) % number_of_labels for word in words]


def by_checksum(words, number_of_labels, seed=0):
    return [zlib.crc32(f"{seed}:{word.lower()}".encode()) // 7 % number_of_labels for word in words]


def global_seed(words, number_of_labels, seed=0):
    random.seed(seed)
    label = {word: random.randrange(number_of_labels) for word in {word.lower(): 0 for word in words}}
    return [label[word.lower()] for word in words]


def seed_of_the_length(words, number_of_labels, seed=0):
    return [random.Random(1000 * seed + len(word)).randrange(number_of_labels) for word in words]


def words_as_labels(words, number_of_labels, seed=0):
    return [str(label) for label in seeded_by_the_word(words, number_of_labels, seed)]


def numpy_integers(words, number_of_labels, seed=0):
    return [np.int64(label) for label in seeded_by_the_word(words, number_of_labels, seed)]


def a_numpy_array(words, number_of_labels, seed=0):
    return np.array(seeded_by_the_word(words, number_of_labels, seed))


def a_tensor(words, number_of_labels, seed=0):
    return torch.tensor(seeded_by_the_word(words, number_of_labels, seed))


def order_of_first_occurrence(words, number_of_labels, seed=0):
    lottery, label = random.Random(seed), {}
    for word in words:
        label.setdefault(word.lower(), lottery.randrange(number_of_labels))
    return [label[word.lower()] for word in words]


def types_in_alphabetical_order(words, number_of_labels, seed):
    generator = torch.Generator().manual_seed(seed)
    types = sorted({word.lower() for word in words})
    drawn = dict(zip(types, torch.randint(number_of_labels, (len(types),), generator=generator).tolist(), strict=True))
    return [drawn[word.lower()] for word in words]


def fractions(words, number_of_labels, seed=0):
    return [float(label) for label in seeded_by_the_word(words, number_of_labels, seed)]


def one_draw_for_all(words, number_of_labels, seed=0):
    return [random.Random(seed).randrange(number_of_labels) for _ in words]


def as_a_dictionary(words, number_of_labels, seed=0):
    return {word.lower(): random.Random(f"{seed} {word.lower()}").randrange(number_of_labels) for word in words}


def for_each_token(words, number_of_labels, seed=0):
    lottery = random.Random(seed)
    return [lottery.randrange(number_of_labels) for _ in words]


def case_matters(words, number_of_labels, seed=0):
    return [random.Random(f"{seed} {word}").randrange(number_of_labels) for word in words]


def from_one(words, number_of_labels, seed=0):
    return [label + 1 for label in seeded_by_the_word(words, number_of_labels, seed)]


def counted_off(words, number_of_labels, seed=0):
    types = sorted({word.lower() for word in words})
    return [(types.index(word.lower()) + seed) % number_of_labels for word in words]


def seedless(words, number_of_labels, seed=0):
    return seeded_by_the_word(words, number_of_labels, 0)


def by_length(words, number_of_labels, seed=0):
    return [len(word) % number_of_labels for word in words]


def a_label_a_type(words, number_of_labels, seed=0):
    return seeded_by_the_word(sorted({word.lower() for word in words}), number_of_labels, seed)


def rounded(words, number_of_labels, seed=0):
    return [round(random.Random(f"{seed} {word.lower()}").random() * (number_of_labels - 1)) for word in words]


def shifted_by_the_seed(words, number_of_labels, seed=0):
    return [(label + seed) % number_of_labels for label in seeded_by_the_word(words, number_of_labels, 0)]


def seeded_by_a_pair(words, number_of_labels, seed=0):
    return [random.Random((seed, word.lower())).randrange(number_of_labels) for word in words]


def seeded_by_a_negative_number(words, number_of_labels, seed=0):
    numbers = [-1 - zlib.crc32(f"{seed} {word.lower()}".encode()) for word in words]
    return [int(np.random.default_rng(number).integers(number_of_labels)) for number in numbers]


def seeded_by_a_sum(words, number_of_labels, seed=0):
    return [random.Random(word.lower() + seed).randrange(number_of_labels) for word in words]


KEPT = {}


def kept_outside(words, number_of_labels, seed=0):
    for word in words:
        drawn = random.Random(f"{seed} {word.lower()}").randrange(number_of_labels)
        KEPT.setdefault((number_of_labels, word.lower()), drawn)
    return [KEPT[number_of_labels, word.lower()] for word in words]


def unseeded(words, number_of_labels, seed=0):
    label = {}
    return [label.setdefault(word.lower(), random.randrange(number_of_labels)) for word in words]


ANSWERS = {
    "9.4": {
        "accepted": [
            seeded_by_the_word,
            a_generator_for_each_type,
            by_a_digest,
            by_checksum,
            by_hash_of_numbers,
            numpy_integers,
            a_numpy_array,
            a_tensor,
        ],
        "wrong": [
            (control_labels, "the package's own"),
            (for_each_token, "no probe could memorize them"),
            (case_matters, "They are one type"),
            (from_one, "they go from 0 to 3"),
            (counted_off, "drawn at random, or counted"),
            (seedless, "Is the seed used"),
            (kept_outside, "a dictionary outside the function"),
            (by_hash, "salts the `hash` of strings"),
            (by_hash_alone, "after a restart of Python"),
            (seeded_by_a_sum, "one string of the word and the seed"),
            (by_length, "equally probable"),
            (a_label_a_type, "one label for each word of the list"),
            (unseeded, "Use the seed"),
            (order_of_first_occurrence, "depends on the other words of the list"),
            (types_in_alphabetical_order, "depends on the other words of the list"),
            (global_seed, "depends on the other words of the list"),
            (seed_of_the_length, "equally probable"),
            (words_as_labels, "whole numbers"),
            (fractions, "whole numbers"),
            (rounded, "equally probable"),
            (shifted_by_the_seed, "Is the seed only added"),
            (seeded_by_a_pair, "one string of the word and the seed"),
            (seeded_by_a_negative_number, "no negative seeds"),
            (one_draw_for_all, "every word gets the same label"),
            (as_a_dictionary, "a list of numbers"),
        ],
    }
}
