"""Answers to exercise 11.3: right ones, and mistakes with the words that they must hear."""

import torch

# 11.3 ------------------------------------------------------------------------------------------------------------


def word_by_word(pieces, labels):
    found = [-100]
    for ids, label in zip(pieces, labels, strict=True):
        found += [label] + [-100] * (len(ids) - 1)
    return [*found, -100]


def as_a_tensor(pieces, labels):
    found = torch.full((sum(len(ids) for ids in pieces) + 2,), -100)
    place = 1
    for ids, label in zip(pieces, labels, strict=True):
        found[place] = label
        place += len(ids)
    return found


def on_all(pieces, labels):
    return [-100, *[label for ids, label in zip(pieces, labels, strict=True) for _ in ids], -100]


def on_the_last(pieces, labels):
    return [-100, *[x for ids, y in zip(pieces, labels, strict=True) for x in [-100] * (len(ids) - 1) + [y]], -100]


def too_early(pieces, labels):
    return [-100, *labels, *[-100] * (sum(map(len, pieces)) - len(labels)), -100]


def zeros(pieces, labels):
    return [-100, *[x for ids, y in zip(pieces, labels, strict=True) for x in [y] + [0] * (len(ids) - 1)], -100]


def no_edges(pieces, labels):
    return word_by_word(pieces, labels)[1:-1]


def edges_learned(pieces, labels):
    return [0, *word_by_word(pieces, labels)[1:-1], 0]


def without_cls(pieces, labels):
    return word_by_word(pieces, labels)[1:]


def without_sep(pieces, labels):
    return word_by_word(pieces, labels)[:-1]


def nothing_for_others(pieces, labels):
    inside = word_by_word(pieces, labels)[1:-1]
    return [-100, *[None if label == -100 else label for label in inside], -100]


def as_an_array(pieces, labels):
    return as_a_tensor(pieces, labels).numpy()


def minus_one(pieces, labels):
    return [-1 if label == -100 else label for label in word_by_word(pieces, labels)]


def one_too_many(pieces, labels):
    return [-100, *[x for ids, y in zip(pieces, labels, strict=True) for x in [y] + [-100] * len(ids)], -100]


def lists_in_a_list(pieces, labels):
    return [-100, *[[y] + [-100] * (len(ids) - 1) for ids, y in zip(pieces, labels, strict=True)], -100]


def adds_a_number(pieces, labels):
    found = [-100]
    for ids, label in zip(pieces, labels, strict=True):
        found += label
        found += [-100] * (len(ids) - 1)
    return [*found, -100]


def zeros_everywhere(pieces, labels):
    return [0, *[x for ids, y in zip(pieces, labels, strict=True) for x in [y] + [0] * (len(ids) - 1)], 0]


def one_a_word(pieces, labels):
    return [-100, *labels, -100]


ANSWERS = {
    "11.3": {
        "accepted": [word_by_word, as_a_tensor, as_an_array],
        "wrong": [
            (on_all, "only the first piece should count"),
            (on_the_last, "at the last piece of each word"),
            (too_early, "is too early"),
            (zeros, "0 is the number of a tag"),
            (zeros_everywhere, "0 is a tag's number"),
            (no_edges, "[CLS] and [SEP] are tokens too"),
            (edges_learned, "[CLS] and [SEP] are not words"),
            (one_a_word, "not only each word"),
            (minus_one, "not -1"),
            (one_too_many, "One -100 too many"),
            (lists_in_a_list, "contains lists"),
            (adds_a_number, "To add one number to a list"),
            (without_cls, "[CLS] is a token too"),
            (without_sep, "[SEP] is a token too"),
            (nothing_for_others, "None can't be a label"),
        ],
    }
}
