"""Answers to the exercises of chapter 22: right ones, and mistakes with the words that they must hear."""

import torch

from bertedu.course.exercises.chapter_22 import rule, zero_bytes


def by_formula(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * (rows * inner + inner * columns + rows * columns))


def by_tensors(rows, inner, columns, size):
    shapes = torch.tensor([[rows, inner], [inner, columns], [rows, columns]], dtype=torch.double)
    return 2.0 * rows * inner * columns / (shapes.prod(1).sum() * size).item()


def one_operation(rows, inner, columns, size):
    return by_formula(rows, inner, columns, size) / 2


def each_number(rows, inner, columns, size):
    return by_formula(rows, inner, columns, 1)


def only_read(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * (rows * inner + inner * columns))


def upside_down(rows, inner, columns, size):
    return 1 / by_formula(rows, inner, columns, size)


def each_time_anew(rows, inner, columns, size):
    return 2 * rows * inner * columns / (size * 2 * rows * inner * columns)


def only_operations(rows, inner, columns, size):
    return 2 * rows * inner * columns


def scaled(scale, clean_steps, finite, interval):
    if finite:
        clean_steps += 1
        grow = clean_steps == interval
        return True, scale * (2 if grow else 1), 0 if grow else clean_steps
    return [False, scale * 0.5, 0]


def scaled_by_remainder(scale, clean_steps, finite, interval):
    count = (clean_steps + 1) % interval if finite else 0
    return finite, scale / 2 if not finite else scale * 2 if count == 0 else scale, count


def takes_it_anyway(scale, clean_steps, finite, interval):
    return True, *rule(scale, clean_steps, finite, interval)[1:]


def grows_on_overflow(scale, clean_steps, finite, interval):
    return (False, scale * 2, 0) if not finite else rule(scale, clean_steps, finite, interval)


def one_late(scale, clean_steps, finite, interval):
    if not finite:
        return False, scale / 2, 0
    return (True, scale * 2, 0) if clean_steps == interval else (True, scale, clean_steps + 1)


def never_resets(scale, clean_steps, finite, interval):
    taken, following, _ = rule(scale, clean_steps, finite, interval)
    return taken, following, clean_steps + 1


def keeps_the_count(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, count if finite else clean_steps


def grows_each_time(scale, clean_steps, finite, interval):
    return (True, scale * 2, 0) if finite else (False, scale / 2, 0)


def ring(parts, send, gather=lambda here, came: came, start=1, rounds=None, change=False):
    workers = len(parts)
    held = parts if change else [list(row) for row in parts]
    for step in range(workers - 1):
        for worker in range(workers):
            right, chunk = (worker + 1) % workers, (worker - step) % workers
            held[right][chunk] = held[right][chunk] + send(worker, right, held[worker][chunk])
    for step in range(workers - 1 if rounds is None else rounds):
        for worker in range(workers):
            right, chunk = (worker + 1) % workers, (worker + start - step) % workers
            held[right][chunk] = gather(held[right][chunk], send(worker, right, held[worker][chunk]))
    return held


def ring_at_once(parts, send):
    """As in a real ring: all send what they had at the beginning of the step."""
    size, held = len(parts), [[chunk.clone() for chunk in row] for row in parts]
    for step in range(2 * (size - 1)):
        came = {}
        for worker in range(size):
            chunk = (worker - step) % size
            came[(worker + 1) % size, chunk] = send(worker, (worker + 1) % size, held[worker][chunk])
        for (worker, chunk), tensor in came.items():
            held[worker][chunk] = held[worker][chunk] + tensor if step < size - 1 else tensor
    return tuple(tuple(row) for row in held)


def without_sending(parts, send):
    sums = [torch.stack(chunks).sum(0) for chunks in zip(*parts, strict=True)]
    return [sums for _ in parts]


def by_one_worker(parts, send):
    size = len(parts)
    sums = list(parts[0])
    for worker in range(1, size):
        sums = [one + send(worker, 0, other) for one, other in zip(sums, parts[worker], strict=True)]
    return [[send(0, worker, chunk) for chunk in sums] if worker else sums for worker in range(size)]


def everything_around(parts, send):
    """Whole gradients go round the ring, N - 1 times."""
    size = len(parts)
    held, moving = [list(row) for row in parts], [list(row) for row in parts]
    for _ in range(size - 1):
        moving = [[send((w - 1) % size, w, chunk) for chunk in moving[w - 1]] for w in range(size)]
        held = [[a + b for a, b in zip(one, other, strict=True)] for one, other in zip(held, moving, strict=True)]
    return held


def added_again(parts, send):
    return ring(parts, send, gather=lambda here, came: here + came)


def only_scattered(parts, send):
    return ring(parts, send, rounds=0)


def wrong_chunk(parts, send):
    return ring(parts, send, start=0)


def in_place(parts, send):
    return ring(parts, send, change=True)


def one_round(parts, send):
    size = len(parts)
    held = [list(row) for row in parts]
    return [[held[w][c] + send((w - 1) % size, w, parts[w - 1][c]) for c in range(size)] for w in range(size)]


def bytes_of(weights, workers, stage):
    parts = [8, 4, 4]
    return weights * sum(part / workers if number < stage else part for number, part in enumerate(parts))


def bytes_by_table(weights, workers, stage):
    table = {0: 16, 1: 8 + 8 / workers, 2: 4 + 12 / workers, 3: 16 / workers}
    return table[stage] * weights


def together(weights, workers, stage):
    return workers * zero_bytes(weights, workers, stage)


def only_its_own_part(weights, workers, stage):
    return weights * (16 - {1: 8, 2: 4, 3: 4}.get(stage, 0) * (1 - 1 / workers))


def weights_first(weights, workers, stage):
    return weights * {0: 16, 1: 12 + 4 / workers, 2: 8 + 8 / workers, 3: 16 / workers}[stage]


def always_all(weights, workers, stage):
    return 16 * weights / workers


def never(weights, workers, stage):
    return 16 * weights


def one_mean(weights, workers, stage):
    return zero_bytes(weights, workers, stage) - weights * 4 / (workers if stage >= 1 else 1)


ANSWERS = {
    "22.1": {
        "accepted": [by_formula, by_tensors],
        "wrong": [
            (one_operation, "two operations"),
            (each_number, "a number has several bytes"),
            (only_read, "The result is written, too"),
            (upside_down, "the other way round"),
            (each_time_anew, "stays near the processor"),
            (only_operations, "Divide by the bytes"),
        ],
    },
    "22.2": {
        "accepted": [scaled, scaled_by_remainder],
        "wrong": [
            (takes_it_anyway, "every weight infinite or nan"),
            (grows_on_overflow, "Should S grow"),
            (one_late, "may be the one that completes"),
            (never_resets, "starts again at zero"),
            (keeps_the_count, "end here: zero"),
            (grows_each_time, "in a row, not after each one"),
        ],
    },
    "22.3": {
        "accepted": [ring, ring_at_once],
        "wrong": [
            (without_sending, "nothing was sent"),
            (by_one_worker, "its right neighbor is"),
            (everything_around, "each are enough"),
            (added_again, "It is not added"),
            (only_scattered, "all-gather is missing"),
            (wrong_chunk, "In which step"),
            (in_place, "changed its input"),
            (one_round, "left neighbor"),
        ],
    },
    "22.4": {
        "accepted": [bytes_of, bytes_by_table],
        "wrong": [
            (together, "all workers keep together"),
            (only_its_own_part, "what the stages before it share out"),
            (weights_first, "largest part first"),
            (always_all, "shares out less"),
            (never, "shares something out"),
            (one_mean, "two means of 4 bytes"),
        ],
    },
}
