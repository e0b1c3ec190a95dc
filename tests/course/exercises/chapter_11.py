"""Answers to the exercises of chapter 11: right ones, and mistakes with the words that they must hear."""

import torch

from bertedu.finetuning.crf import ConditionalRandomField
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
    return [(kind, start, end - 1) for kind, start, end in tag_spans(tags)]


def loses_the_last(tags):
    return [span for span in tag_spans(tags) if span[2] < len(tags)]


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


def one_a_word(pieces, labels):
    return [-100, *labels, -100]


# 11.4 ------------------------------------------------------------------------------------------------------------


def with_tensors(emissions, transitions):
    best, origins = emissions[0], []
    for said in emissions[1:]:
        scores, origin = (best[:, None] + transitions).max(dim=0)
        best = scores + said
        origins.append(origin)
    row = [int(best.argmax())]
    for origin in reversed(origins):
        row.append(int(origin[row[-1]]))
    return row[::-1]


def whole_rows(emissions, transitions):
    tags = range(emissions.size(1))
    rows = {tag: (float(emissions[0, tag]), [tag]) for tag in tags}
    for said in emissions[1:]:
        rows = {
            b: max((rows[a][0] + float(transitions[a, b]) + float(said[b]), [*rows[a][1], b]) for a in tags)
            for b in tags
        }
    return max(rows.values())[1]


def by_the_package(emissions, transitions):
    crf = ConditionalRandomField(["X"] * emissions.size(1))
    crf.transitions.data = transitions
    return torch.tensor(crf.decode(emissions[None], torch.ones(1, len(emissions), dtype=torch.bool))[0])


def backwards(emissions, transitions):
    return with_tensors(emissions, transitions)[::-1]


def each_alone(emissions, transitions):
    return emissions.argmax(dim=1).tolist()


def greedily(emissions, transitions):
    row = [int(emissions[0].argmax())]
    for said in emissions[1:]:
        row.append(int((said + transitions[row[-1]]).argmax()))
    return row


def turned(emissions, transitions):
    return with_tensors(emissions, transitions.T)


def only_the_end(emissions, transitions):
    return with_tensors(emissions, transitions)[-1:]


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


def cut_off(piece_tags, first_pieces, words):
    return [tag for tag, first in zip(piece_tags, first_pieces, strict=True) if first]


ANSWERS = {
    "11.1": {
        "accepted": [0.5, torch.tensor(0.5)],
        "wrong": [
            (0.9, "share of words"),
            (0.75, "no half point"),
            (2 / 3, "Precision counts too"),
            (0.3, "Count whole entities"),
            ("half", "is written like this"),
        ],
    },
    "11.2": {
        "accepted": [with_open_one, as_lists],
        "wrong": [
            (tag_spans, "the package's own"),
            (last_included, "BEHIND the entity"),
            (word_by_word_alone, "an entity of its own"),
            (loses_the_last, "still open after the last word"),
            (merges, "B- always begins"),
            (blind_to_types, "An entity has one type"),
            (strict_reader, "goes on with nothing"),
        ],
    },
    "11.3": {
        "accepted": [word_by_word, as_a_tensor],
        "wrong": [
            (on_all, "only the first one may count"),
            (on_the_last, "at the last piece"),
            (too_early, "each one stands too early"),
            (zeros, "0 is a label"),
            (no_edges, "[CLS] and [SEP] are tokens too"),
            (edges_learned, "[CLS] and [SEP] are no words"),
            (one_a_word, "not for each word"),
        ],
    },
    "11.4": {
        "accepted": [with_tensors, whole_rows, by_the_package],
        "wrong": [
            (backwards, "in reverse"),
            (each_alone, "own best tag"),
            (greedily, "That is greedy"),
            (turned, "turned round"),
            (only_the_end, "back to the first word"),
        ],
    },
    "11.5": {
        "accepted": [repaired, by_places],
        "wrong": [
            (still_broken, "That is the broken one"),
            (from_cls, "which is no word"),
            (all_pieces, "a tag for every piece"),
            (last_pieces, "the last piece of each word"),
            (cut_off, "were cut off"),
        ],
    },
}
