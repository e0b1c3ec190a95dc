"""Answers to the drill of Viterbi's algorithm: right ones, and mistakes with the words that they must hear."""

import itertools
from functools import cache

import numpy as np
import torch


def walk(emissions, transitions, step):
    best, origins = emissions[0], []
    for emission in emissions[1:]:
        scores, origin = step(best, transitions)
        best = scores + emission
        origins.append(origin)
    tags = [int(best.argmax())]
    for origin in reversed(origins):
        tags.append(int(origin[tags[-1]]))
    return tags[::-1], best.max()


def with_tensors(emissions, transitions):
    return walk(emissions, transitions, lambda best, transitions: (best[:, None] + transitions).max(dim=0))


def with_numpy(emissions, transitions):
    e, t = emissions.numpy().astype(np.float64), transitions.numpy()
    words, tags = e.shape
    table, origins = np.full((words, tags), -np.inf), np.zeros((words, tags), dtype=int)
    table[0] = e[0]
    for i in range(1, words):
        paths = table[i - 1][:, None] + t
        origins[i], table[i] = paths.argmax(0), paths.max(0) + e[i]
    sequence = [table[-1].argmax()]
    for i in range(words - 1, 0, -1):
        sequence.append(origins[i, sequence[-1]])
    return np.array(sequence[::-1]), table[-1].max()


def whole_paths(emissions, transitions):
    paths = {tag: (float(emissions[0, tag]), [tag]) for tag in range(emissions.size(1))}
    for emission in emissions[1:].tolist():
        paths = {
            b: max((score + float(transitions[a, b]) + emission[b], [*path, b]) for a, (score, path) in paths.items())
            for b in paths
        }
    score, path = max(paths.values())
    return path, score


def by_recursion(emissions, transitions):
    e, t = emissions.tolist(), transitions.tolist()

    @cache
    def best(word, tag):
        if word == 0:
            return e[0][tag], (tag,)
        score, path = max((best(word - 1, a)[0] + t[a][tag], best(word - 1, a)[1]) for a in range(len(t)))
        return score + e[word][tag], (*path, tag)

    score, path = max(best(len(e) - 1, tag) for tag in range(len(t)))
    return list(path), score


def from_the_right(emissions, transitions):
    best, onward = torch.zeros(emissions.size(1)), []
    for emission in emissions[1:].flip(0):
        best, chosen = (transitions + (best + emission)[None, :]).max(dim=1)
        onward.append(chosen)
    score, tag = (best + emissions[0]).max(0)
    sequence = [tag]
    for chosen in onward[::-1]:
        sequence.append(chosen[sequence[-1]])
    return torch.stack(sequence), score.reshape(1)


def score_of(emissions, transitions, sequence):
    steps = sum(float(transitions[a, b]) for a, b in itertools.pairwise(sequence))
    return sum(float(emissions[word, tag]) for word, tag in enumerate(sequence)) + steps


def tries_all(emissions, transitions):
    e, t = emissions.tolist(), transitions.tolist()
    best, chosen = -1e9, None
    for sequence in itertools.product(range(len(t)), repeat=len(e)):
        value = e[0][sequence[0]]
        for row, a, b in zip(e[1:], sequence, sequence[1:], strict=False):
            value += row[b] + t[a][b]
        if value > best:
            best, chosen = value, sequence
    return list(chosen), best


def tries_all_at_once(emissions, transitions):
    tags, values = emissions.size(1), emissions[0]
    for emission in emissions[1:]:
        values = values[..., None] + transitions + emission
    best, sequence = int(values.argmax()), []
    for _ in emissions:
        best, tag = divmod(best, tags)
        sequence.insert(0, tag)
    return sequence, values.max()


def each_alone(emissions, transitions):
    tags = emissions.argmax(dim=1).tolist()
    return tags, score_of(emissions, transitions, tags)


def greedily(emissions, transitions):
    tags = [int(emissions[0].argmax())]
    for emission in emissions[1:]:
        tags.append(int((emission + transitions[tags[-1]]).argmax()))
    return tags, score_of(emissions, transitions, tags)


def backwards(emissions, transitions):
    tags, score = with_tensors(emissions, transitions)
    return tags[::-1], score


def transposed(emissions, transitions):
    return with_tensors(emissions, transitions.T)


def added_to_columns(emissions, transitions):
    return walk(emissions, transitions, lambda best, transitions: (best + transitions).max(dim=0))


def max_over_columns(emissions, transitions):
    return walk(emissions, transitions, lambda best, transitions: (best[:, None] + transitions).max(dim=1))


def keeps_sums(emissions, transitions):
    def step(best, transitions):
        paths = best[:, None] + transitions
        return paths.logsumexp(dim=0), paths.argmax(dim=0)

    return walk(emissions, transitions, step)


def without_origins(emissions, transitions):
    best, tags = emissions[0], [int(emissions[0].argmax())]
    for emission in emissions[1:]:
        best = (best[:, None] + transitions).max(dim=0).values + emission
        tags.append(int(best.argmax()))
    return tags, best.max()


def origins_from_the_front(emissions, transitions):
    best, origins = emissions[0], []
    for emission in emissions[1:]:
        scores, origin = (best[:, None] + transitions).max(dim=0)
        best = scores + emission
        origins.append(origin)
    tags = [int(best.argmax())]
    for origin in origins:
        tags.append(int(origin[tags[-1]]))
    return tags[::-1], best.max()


def not_unpacked(emissions, transitions):
    best = emissions[0]
    for emission in emissions[1:]:
        best = (best[:, None] + transitions).max(dim=0) + emission
    return [int(best.argmax())], best.max()


def with_the_partition(emissions, transitions):
    total = emissions[0]
    for emission in emissions[1:]:
        total = (total[:, None] + transitions).logsumexp(0) + emission
    return with_tensors(emissions, transitions)[0], total.logsumexp(0)


def score_of_the_emissions(emissions, transitions):
    tags, _ = with_tensors(emissions, transitions)
    return tags, emissions[torch.arange(len(tags)), tags].sum()


def without_the_first_emission(emissions, transitions):
    tags, score = with_tensors(emissions, transitions)
    return tags, score - emissions[0, tags[0]]


def as_a_probability(emissions, transitions):
    tags, score = with_tensors(emissions, transitions)
    return tags, score.exp()


def only_the_tags(emissions, transitions):
    return with_tensors(emissions, transitions)[0]


def score_first(emissions, transitions):
    return with_tensors(emissions, transitions)[::-1]


def only_the_last(emissions, transitions):
    tags, score = with_tensors(emissions, transitions)
    return tags[-1:], score


def scores_of_all_tags(emissions, transitions):
    best = emissions[0]
    for emission in emissions[1:]:
        best = (best[:, None] + transitions).amax(0) + emission
    return with_tensors(emissions, transitions)[0], best


ANSWERS = {
    "viterbi": {
        "accepted": [with_tensors, with_numpy, whole_paths, by_recursion, from_the_right],
        "wrong": [
            (each_alone, "best tags of each word alone"),
            (greedily, "That is greedy"),
            (backwards, "in reverse"),
            (transposed, "from column to row"),
            (added_to_columns, "It belongs to the row"),
            (max_over_columns, "It looks like `max(dim=1)`"),
            (keeps_sums, "still sums over all paths"),
            (without_origins, "need not be parts of one sequence"),
            (origins_from_the_front, "They lead back"),
            (not_unpacked, "Take both results"),
            (with_the_partition, "all paths together, log Z"),
            (score_of_the_emissions, "Its transitions belong"),
            (without_the_first_emission, "emission of the first word"),
            (as_a_probability, "the exponential of the score"),
            (only_the_tags, "return tags, score"),
            (score_first, "Return the tags first"),
            (only_the_last, "one tag for each word"),
            (scores_of_all_tags, "one number is expected"),
            (tries_all, "do you try all 4^9 = 262,144 sequences"),
            (tries_all_at_once, "do you try all 4^6"),
        ],
    },
}
