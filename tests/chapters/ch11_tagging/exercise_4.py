"""Answers to exercise 11.4: right ones, and mistakes with the words that they must hear."""

import itertools

import torch

from bertedu.finetuning.crf import ConditionalRandomField

# 11.4 ------------------------------------------------------------------------------------------------------------


def walk(emissions, transitions, step):
    best, origins = emissions[0], []
    for said in emissions[1:]:
        scores, origin = step(best, transitions)
        best = scores + said
        origins.append(origin)
    row = [int(best.argmax())]
    for origin in reversed(origins):
        row.append(int(origin[row[-1]]))
    return row[::-1]


def with_tensors(emissions, transitions):
    return walk(emissions, transitions, lambda best, transitions: (best[:, None] + transitions).max(dim=0))


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


def with_plain_numbers(emissions, transitions):
    best, origins, tags = emissions[0].tolist(), [], range(emissions.size(1))
    for said in emissions[1:].tolist():
        paths = [[best[a] + float(transitions[a, b]) for a in tags] for b in tags]
        origins.append([path.index(max(path)) for path in paths])
        best = [max(path) + said[b] for b, path in enumerate(paths)]
    sequence = [best.index(max(best))]
    for origin in origins[::-1]:
        sequence.insert(0, origin[sequence[0]])
    return tuple(sequence)


def from_the_right(emissions, transitions):
    best, onward = torch.zeros(emissions.size(1)), []
    for said in emissions[1:].flip(0):
        best, chosen = (transitions + (best + said)[None, :]).max(dim=1)
        onward.append(chosen)
    sequence = [(best + emissions[0]).argmax()]
    for chosen in onward[::-1]:
        sequence.append(chosen[sequence[-1]])
    return torch.stack(sequence).numpy()


def score_of(emissions, transitions, sequence):
    steps = sum(transitions[a, b] for a, b in itertools.pairwise(sequence))
    return sum(emissions[word, tag] for word, tag in enumerate(sequence)) + steps


def tries_all(emissions, transitions):
    sequences = itertools.product(range(emissions.size(1)), repeat=len(emissions))
    return list(max(sequences, key=lambda sequence: score_of(emissions, transitions, sequence)))


def tries_all_fast(emissions, transitions):
    said, steps = emissions.tolist(), transitions.tolist()
    best, chosen = -1e9, None
    for sequence in itertools.product(range(len(steps)), repeat=len(said)):
        value = said[0][sequence[0]]
        for row, a, b in zip(said[1:], sequence, sequence[1:], strict=False):
            value += row[b] + steps[a][b]
        if value > best:
            best, chosen = value, sequence
    return list(chosen)


def tries_all_at_once(emissions, transitions):
    tags, values = emissions.size(1), emissions[0]
    for said in emissions[1:]:  # [C, ..., C], one axis more for each word
        values = values[..., None] + transitions + said
    best, sequence = int(values.argmax()), []
    for _ in emissions:
        best, tag = divmod(best, tags)
        sequence.insert(0, tag)
    return sequence


def keeps_sums(emissions, transitions):
    def step(best, transitions):
        paths = best[:, None] + transitions
        return paths.logsumexp(dim=0), paths.argmax(dim=0)

    return walk(emissions, transitions, step)


def max_over_columns(emissions, transitions):
    return walk(emissions, transitions, lambda best, transitions: (best[:, None] + transitions).max(dim=1))


def sums_over_columns(emissions, transitions):
    def step(best, transitions):
        paths = best[:, None] + transitions
        return paths.logsumexp(dim=1), paths.argmax(dim=1)

    return walk(emissions, transitions, step)


def added_to_columns(emissions, transitions):
    return walk(emissions, transitions, lambda best, transitions: (best + transitions).max(dim=0))


def one_thing_for_two(emissions, transitions):
    return walk(emissions, transitions, lambda best, transitions: (best[:, None] + transitions).logsumexp(dim=0))


def not_unpacked(emissions, transitions):
    best = emissions[0]
    for said in emissions[1:]:
        best = (best[:, None] + transitions).max(dim=0) + said
    return [int(best.argmax())]


def best_of_each_word(emissions, transitions):
    best, row = emissions[0], [int(emissions[0].argmax())]
    for said in emissions[1:]:
        best = (best[:, None] + transitions).max(dim=0).values + said
        row.append(int(best.argmax()))
    return row


def origins_from_the_front(emissions, transitions):
    best, origins = emissions[0], []
    for said in emissions[1:]:
        scores, origin = (best[:, None] + transitions).max(dim=0)
        best = scores + said
        origins.append(origin)
    row = [int(best.argmax())]
    for origin in origins:
        row.append(int(origin[row[-1]]))
    return row[::-1]


def only_the_first_emissions(emissions, transitions):
    best, paths = emissions[0], [[tag] for tag in range(emissions.size(1))]
    for _ in emissions[1:]:
        best, origin = (best[:, None] + transitions).max(dim=0)
        paths = [[*paths[int(a)], b] for b, a in enumerate(origin)]
    return paths[int(best.argmax())]


def emission_to_the_rows(emissions, transitions):
    best, paths = emissions[0], [[tag] for tag in range(emissions.size(1))]
    for said in emissions[1:]:
        best, origin = (best[:, None] + transitions + said[:, None]).max(dim=0)
        paths = [[*paths[int(a)], b] for b, a in enumerate(origin)]
    return paths[int(best.argmax())]


def takes_exp(emissions, transitions):
    return with_tensors(emissions.exp(), transitions.exp())


def multiplies(emissions, transitions):
    best, paths = emissions[0], [[tag] for tag in range(emissions.size(1))]
    for said in emissions[1:]:
        best, origin = (best[:, None] * transitions).max(dim=0)
        best, paths = best * said, [[*paths[int(a)], b] for b, a in enumerate(origin)]
    return paths[int(best.argmax())]


def with_its_score(emissions, transitions):
    return with_tensors(emissions, transitions), 3.5


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


ANSWERS = {
    "11.4": {
        "accepted": [with_tensors, whole_rows, by_the_package, with_plain_numbers, from_the_right],
        "wrong": [
            (backwards, "in reverse"),
            (each_alone, "best tags of each word alone"),
            (greedily, "That is greedy"),
            (greedily, "the value 360, the best one 480"),
            (turned, "from column to row"),
            (only_the_end, "back to the first"),
            (tries_all, "do you try all 4^6 = 4,096 sequences"),
            (tries_all_fast, "do you try all 4^10 = 1,048,576 sequences"),
            (tries_all_at_once, "a tensor of 4,096 entries"),
            (keeps_sums, "still sums over all paths"),
            (max_over_columns, "It looks like `max(dim=1)`. Dim 1"),
            (sums_over_columns, "It looks like `max(dim=1)`"),
            (added_to_columns, "It belongs to the row"),
            (one_thing_for_two, "`logsumexp` gives only one"),
            (not_unpacked, "Take both results"),
            (best_of_each_word, "need not be parts of one sequence"),
            (origins_from_the_front, "They lead back"),
            (only_the_first_emissions, "for the first word only"),
            (multiplies, "You multiply"),
            (emission_to_the_rows, "Is it `emission[:, None]`?"),
            (takes_exp, "Did you take `exp`"),
            (with_its_score, "Return the tag sequence only"),
        ],
    }
}
