"""Answers to exercise 11.5: right ones, and mistakes with the words that they must hear."""

import numpy as np

# 11.5 ------------------------------------------------------------------------------------------------------------


def repaired(piece_tags, first_pieces, words):
    found = [tag for tag, first in zip(piece_tags, first_pieces, strict=True) if first]
    return found + ["O"] * (words - len(found))


def by_places(piece_tags, first_pieces, words):
    places = [i for i, first in enumerate(first_pieces) if first == 1]
    return [piece_tags[places[w]] if w < len(places) else "O" for w in range(words)]


def still_broken(piece_tags, first_pieces, words):
    return piece_tags[1 : 1 + words]


def from_cls(piece_tags, first_pieces, words):
    return piece_tags[:words]


def all_pieces(piece_tags, first_pieces, words):
    return piece_tags[1:-1]


def last_pieces(piece_tags, first_pieces, words):
    ends = [i for i in range(1, len(piece_tags) - 1) if first_pieces[i + 1] or i == len(piece_tags) - 2]
    return [piece_tags[i] for i in ends]


def all_others(piece_tags, first_pieces, words):
    return [tag for tag, first in zip(piece_tags, first_pieces, strict=True) if not first]


def cut_off(piece_tags, first_pieces, words):
    return [tag for tag, first in zip(piece_tags, first_pieces, strict=True) if first]


def one_for_each_word(piece_tags, first_pieces, words):
    places = [i for i, first in enumerate(first_pieces) if first == 1]
    return [piece_tags[places[word]] for word in range(words)]


def as_text_array(piece_tags, first_pieces, words):
    return np.array(repaired(piece_tags, first_pieces, words))


def o_for_other_pieces(piece_tags, first_pieces, words):
    return [tag if first else "O" for tag, first in zip(piece_tags, first_pieces, strict=True)]


def nothing_where_cut(piece_tags, first_pieces, words):
    found = cut_off(piece_tags, first_pieces, words)
    return found + [None] * (words - len(found))


def shifted_by_cls(piece_tags, first_pieces, words):
    found = [tag for tag, first in zip(piece_tags[1:], first_pieces, strict=False) if first]
    return found + ["O"] * (words - len(found))


def shifted_the_other_way(piece_tags, first_pieces, words):
    found = [tag for tag, first in zip(piece_tags, first_pieces[1:], strict=False) if first]
    return found + ["O"] * (words - len(found))


ANSWERS = {
    "11.5": {
        "accepted": [repaired, by_places, as_text_array],
        "wrong": [
            (still_broken, "the colleague's version"),
            (from_cls, "which is not a word"),
            (all_pieces, "a tag for every piece"),
            (last_pieces, "tags of the last pieces"),
            (cut_off, "were cut off"),
            (all_others, "all other pieces"),
            (o_for_other_pieces, "a tag for every token"),
            (nothing_where_cut, "Give them O"),
            (shifted_by_cls, "shifted by one"),
            (shifted_the_other_way, "shifted by one"),
            (one_for_each_word, "There may be more words than first pieces"),
        ],
    }
}
