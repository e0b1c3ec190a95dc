"""Answers to the exercises 11.1, 11.2, 11.3 and 11.5: right ones, and mistakes with the words that they hear."""

import numpy as np
import torch

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


def one_a_word(pieces, labels):
    return [-100, *labels, -100]


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


ANSWERS = {
    "11.1": {
        "accepted": [0.5, torch.tensor(0.5)],
        "wrong": [
            (0.9, "accuracy over words"),
            (0.75, "no half point"),
            (6 / 7, "F1 over the words of names"),
            (0.25, "precision times recall"),
            (2 / 3, "Precision counts too"),
            (1 / 3, "F1 is 2 P R / (P + R)"),
            (50, "as a share between 0 and 1"),
            (0.3, "Count whole entities"),
            ("half", "is written like this"),
        ],
    },
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
    },
    "11.3": {
        "accepted": [word_by_word, as_a_tensor, as_an_array],
        "wrong": [
            (on_all, "only the first piece should count"),
            (on_the_last, "at the last piece of each word"),
            (too_early, "is too early"),
            (zeros, "0 is the number of a tag"),
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
    },
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
            (one_for_each_word, "There may be more words than first pieces"),
        ],
    },
}
