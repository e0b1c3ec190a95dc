"""Answers to exercise 20.3: right ones, and mistakes with the words that they must hear."""

import functools
import math

# 20.3 ------------------------------------------------------------------------------------------------------------


def viterbi(word, log_probabilities):
    best = [(0.0, 0)] + [(-math.inf, 0)] * len(word)
    for stop in range(1, len(word) + 1):
        for start in range(stop):
            if (piece := word[start:stop]) in log_probabilities:
                best[stop] = max(best[stop], (best[start][0] + log_probabilities[piece], start))
    if best[-1][0] == -math.inf:
        return None
    pieces, stop = [], len(word)
    while stop:
        start = best[stop][1]
        pieces.insert(0, word[start:stop])
        stop = start
    return pieces


def from_a_start(unreachable):
    def answer(word, log_probabilities):
        best, last = [0.0] + [unreachable] * len(word), [""] * (len(word) + 1)
        for stop in range(1, len(word) + 1):
            for start in range(stop):
                score = best[start] + log_probabilities.get(word[start:stop], -math.inf)
                if score > best[stop]:
                    best[stop], last[stop] = score, word[start:stop]
        pieces, stop = [], len(word)
        while stop:
            if not last[stop]:
                return None
            pieces.append(last[stop])
            stop -= len(last[stop])
        return pieces[::-1]

    return answer


compared_with_zero, finite_for_unreachable = from_a_start(0.0), from_a_start(-100.0)


def with_memory(word, log_probabilities):
    @functools.cache
    def best(start):
        if start == len(word):
            return 0.0, ()
        ways = []
        for stop in range(start + 1, len(word) + 1):
            piece = word[start:stop]
            if piece in log_probabilities and best(stop) is not None:
                score, rest = best(stop)
                ways.append((score + log_probabilities[piece], (piece, *rest)))
        return max(ways, default=None)

    found = best(0)
    return None if found is None else list(found[1])


def carrying_the_lists(word, log_probabilities):
    ways = {0: (0.0, [])}
    for stop in range(1, len(word) + 1):
        found = [
            (ways[start][0] + log_probabilities[word[start:stop]], [*ways[start][1], word[start:stop]])
            for start in ways
            if word[start:stop] in log_probabilities
        ]
        if found:
            ways[stop] = max(found)
    return tuple(ways[len(word)][1]) if len(word) in ways else None


def greedy(word, log_probabilities):
    pieces, start = [], 0
    while start < len(word):
        for stop in range(len(word), start, -1):
            if word[start:stop] in log_probabilities:
                break
        else:
            return None
        pieces.append(word[start:stop])
        start = stop
    return pieces


def backwards(word, log_probabilities):
    found = viterbi(word, log_probabilities)
    return None if found is None else found[::-1]


def letters(word, log_probabilities):
    return list(word)


def the_worst(word, log_probabilities):
    return viterbi(word, {piece: -score for piece, score in log_probabilities.items()})


def fewest_pieces(word, log_probabilities):
    return viterbi(word, dict.fromkeys(log_probabilities, -1.0))


def never_none(word, log_probabilities):
    return viterbi(word, log_probabilities) or []


def as_a_text(word, log_probabilities):
    return " ".join(viterbi(word, log_probabilities) or [])


def with_the_score(word, log_probabilities):
    pieces = viterbi(word, log_probabilities) or []
    return sum(log_probabilities[piece] for piece in pieces), pieces


def empty_is_none(word, log_probabilities):
    return viterbi(word, log_probabilities) or None


def every_part_looked_up(word, log_probabilities):
    return max(log_probabilities[word[start:stop]] for stop in range(1, 7) for start in range(stop))


def best_next_piece(word, log_probabilities):
    pieces, start = [], 0
    while start < len(word):
        fitting = [
            word[start:stop] for stop in range(start + 1, len(word) + 1) if word[start:stop] in log_probabilities
        ]
        if not fitting:
            return None
        pieces.append(max(fitting, key=log_probabilities.get))
        start += len(pieces[-1])
    return pieces


def probabilities_multiplied(word, log_probabilities):
    ways = {0: (1.0, [])}
    for stop in range(1, len(word) + 1):
        found = [
            (ways[start][0] * log_probabilities[word[start:stop]], [*ways[start][1], word[start:stop]])
            for start in ways
            if word[start:stop] in log_probabilities
        ]
        if found:
            ways[stop] = max(found)
    return ways[len(word)][1] if len(word) in ways else None


def missing_is_zero(word, log_probabilities):
    best, last = [0.0], [""]
    for stop in range(1, len(word) + 1):
        ways = [(best[start] + log_probabilities.get(word[start:stop], 0), word[start:stop]) for start in range(stop)]
        best.append(max(ways)[0])
        last.append(max(ways)[1])
    pieces, stop = [], len(word)
    while stop:
        pieces.insert(0, last[stop])
        stop -= len(last[stop])
    return pieces


ANSWERS = {
    "20.3": {
        "accepted": [viterbi, with_memory, carrying_the_lists],
        "wrong": [
            (greedy, "WordPiece's way"),
            (backwards, "wrong order"),
            (letters, "Single letters only"),
            (the_worst, "Single letters only"),
            (fewest_pieces, "Or the fewest pieces?"),
            (never_none, "it should return None"),
            (as_a_text, "a list of pieces is asked for"),
            (with_the_score, "list of the pieces alone"),
            (empty_is_none, "no piece at all"),
            (every_part_looked_up, "test it with `in`"),
            (best_next_piece, "keep all ways open"),
            (probabilities_multiplied, "sum of the whole way"),
            (missing_is_zero, "that is the probability 1"),
            (compared_with_zero, "is not reached yet begins at"),
            (finite_for_unreachable, "Long sums fall below it"),
        ],
    }
}
