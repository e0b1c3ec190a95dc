"""Answers to exercise 15.2: right ones, and mistakes with the words that they must hear."""

from itertools import pairwise


def merged(pieces, pair):
    out = []
    for piece in pieces:
        if out and (out[-1], piece) == pair:
            out[-1] += piece
        else:
            out.append(piece)
    return out


def by_lowest_rank(word, merges):
    pieces = list(word)
    while known := [pair for pair in pairwise(pieces) if pair in merges]:
        pieces = merged(pieces, min(known, key=merges.index))
    return pieces


def replayed(word, merges):
    pieces = tuple(word)
    for pair in merges:
        pieces = tuple(merged(pieces, pair))
    return pieces


def one_at_a_time(word, merges):  # the leftmost pair of the lowest rank, by positions
    ranks, pieces = {pair: rank for rank, pair in enumerate(merges)}, list(word)
    while True:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(pieces)) if pair in ranks]
        if not found:
            return pieces
        _, i = min(found)
        pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]


def by_the_joined_pieces(word, merges):  # ranks by the joined string, as tiktoken does
    ranks, pieces = {first + second: rank for rank, (first, second) in enumerate(merges)}, list(word)
    while found := [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(pieces)) if a + b in ranks]:
        _, i = min(found)
        pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
    return pieces


def longest_match(word, merges):
    tokens, pieces = {first + second for first, second in merges}, []
    while word:
        stop = next((n for n in range(len(word), 1, -1) if word[:n] in tokens), 1)
        pieces.append(word[:stop])
        word = word[stop:]
    return pieces


def leftmost_first(word, merges):
    pieces = list(word)
    while known := [pair for pair in pairwise(pieces) if pair in merges]:
        i = next(i for i, pair in enumerate(pairwise(pieces)) if pair == known[0])
        pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
    return pieces


def only_one_merge(word, merges):
    pieces = list(word)
    known = [pair for pair in pairwise(pieces) if pair in merges]
    return merged(pieces, min(known, key=merges.index)) if known else pieces


def first_occurrence_only(word, merges):
    pieces = list(word)
    for pair in merges:
        for i, other in enumerate(pairwise(pieces)):
            if other == pair:
                pieces[i : i + 2] = ["".join(pair)]
                break
    return pieces


def by_replacing_text(word, merges):
    text = " ".join(word)
    for first, second in merges:
        text = text.replace(f"{first} {second}", first + second)
    return text.split()


def not_merged(word, merges):
    return list(word)


def joined(word, merges):
    return " ".join(by_lowest_rank(word, merges))


def loses_the_last(word, merges):
    pieces = list(word)
    for pair in merges:
        out, i = [], 0
        while i < len(pieces) - 1:
            if (pieces[i], pieces[i + 1]) == pair:
                out.append(pieces[i] + pieces[i + 1])
                i += 2
            else:
                out.append(pieces[i])
                i += 1
        pieces = out
    return pieces


def min_of_nothing(word, merges):
    pieces = list(word)
    while True:
        pieces = merged(pieces, min((pair for pair in pairwise(pieces) if pair in merges), key=merges.index))


def rank_of_every_pair(word, merges):
    pieces = list(word)
    best = min(pairwise(pieces), key=merges.index)
    return merged(pieces, best)


def no_right_neighbor(word, merges):
    pieces = list(word)
    for pair in merges:
        i = 0
        while i < len(pieces):
            if (pieces[i], pieces[i + 1]) == pair:
                pieces[i : i + 2] = ["".join(pair)]
            i += 1
    return pieces


def ids(word, merges):
    return [len(piece) for piece in by_lowest_rank(word, merges)]


ANSWERS = {
    "15.2": {
        "accepted": [by_lowest_rank, replayed, one_at_a_time, by_the_joined_pieces],
        "wrong": [
            (longest_match, "not the longest piece"),
            (leftmost_first, "not the leftmost one"),
            (only_one_merge, "One merge is not enough"),
            (first_occurrence_only, "merged everywhere first"),
            (by_replacing_text, "str.replace also finds"),
            (not_merged, "Nothing was merged"),
            (joined, "a list of pieces"),
            (loses_the_last, "Is the last piece kept"),
            (min_of_nothing, "no neighboring pair has a merge"),
            (rank_of_every_pair, "only of pairs that are in merges"),
            (no_right_neighbor, "no right neighbor"),
            (ids, "should be strings"),
        ],
    }
}
