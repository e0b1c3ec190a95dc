"""Answers to exercise 22.3: right ones, and mistakes with the words that they must hear."""

import torch


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


def ring_of_stacks(parts, send):
    """Each worker's chunks as one tensor, changed in place; by keywords, and counted from the receiver."""
    size, held = len(parts), [torch.stack(row) for row in parts]
    for step in range(size - 1):
        for worker in range(size):
            left = (worker - 1) % size
            held[worker][left - step] += send(sender=left, receiver=worker, tensor=held[left][left - step])
    for step in range(size - 1):
        for worker in range(size):
            left = (worker - 1) % size
            held[worker][worker - step] = send(sender=left, receiver=worker, tensor=held[left][worker - step].clone())
    return [list(row) for row in held]


def chunk_by_chunk(parts, send):
    """One chunk goes twice around the ring, then the next one."""
    size = len(parts)
    held = [[None] * size for _ in parts]
    for chunk in range(size):
        total = parts[chunk][chunk]
        for way in range(chunk, chunk + size - 1):
            worker, right = way % size, (way + 1) % size
            total = parts[right][chunk] + send(worker, right, total)
        held[chunk - 1][chunk] = total
        for way in range(chunk - 1, chunk + size - 2):
            worker, right = way % size, (way + 1) % size
            held[right][chunk] = send(worker, right, held[worker][chunk])
    return held


def leftwards(parts, send):
    return ring(parts, lambda sender, receiver, tensor: send(receiver, sender, tensor))


def whole_gradients(parts, send):
    size = len(parts)
    moving = [torch.stack(row) for row in parts]
    held = list(moving)
    for _ in range(size - 1):
        moving = [send((worker - 1) % size, worker, moving[worker - 1]) for worker in range(size)]
        held = [one + other for one, other in zip(held, moving, strict=True)]
    return [list(row) for row in held]


def reads_without_send(parts, send):
    """Calls send, and then reads the other worker's chunk itself."""
    return ring(parts, lambda sender, receiver, tensor: (send(sender, receiver, tensor), tensor)[1])


def unchanged(parts, send):
    for worker in range(len(parts)):
        send(worker, (worker + 1) % len(parts), parts[worker][worker])
    return [list(row) for row in parts]


def nothing_sent(parts, send):
    return [list(row) for row in parts]


def receiver_without_modulo(parts, send):
    return ring(parts, lambda sender, receiver, tensor: send(sender, sender + 1, tensor))


def sender_minus_one(parts, send):
    return ring(parts, lambda sender, receiver, tensor: send(sender - len(parts), receiver, tensor))


def index_without_modulo(parts, send):
    held = [list(row) for row in parts]
    for worker in range(len(parts)):
        came = held[worker][worker]
        held[worker + 1][worker] = held[worker + 1][worker] + send(worker, (worker + 1) % len(parts), came)
    return held


def tensor_first(parts, send):
    return ring(parts, lambda sender, receiver, tensor: send(tensor, sender, receiver))


def mean_of_them(parts, send):
    return [[chunk / len(parts) for chunk in row] for row in ring(parts, send)]


def turned_rows(parts, send):
    return [[*row[1:], row[0]] for row in ring(parts, send)]


def other_way_of_chunks(parts, send):
    """Chunk w + s and not w - s: each step sends a chunk that nothing was added to."""
    size, held = len(parts), [list(row) for row in parts]
    for start in (0, 1):
        for step in range(size - 1):
            for worker in range(size):
                right, chunk = (worker + 1) % size, (worker + start + step) % size
                came = send(worker, right, held[worker][chunk])
                held[right][chunk] = came if start else held[right][chunk] + came
    return held


def added_twice(parts, send):
    return ring([[2 * chunk for chunk in parts[0]], *parts[1:]], send)


def one_row_only(parts, send):
    return ring(parts, send)[0]


def added_to_the_tensor(parts, send):
    """The list is copied, the tensors in it are not."""
    size, held = len(parts), [list(row) for row in parts]
    for step in range(size - 1):
        for worker in range(size):
            right, chunk = (worker + 1) % size, (worker - step) % size
            held[right][chunk] += send(worker, right, held[worker][chunk])
    for step in range(size - 1):
        for worker in range(size):
            right, chunk = (worker + 1) % size, (worker + 1 - step) % size
            held[right][chunk] = send(worker, right, held[worker][chunk])
    return held


def one_step_more(parts, send):
    return ring(parts, send, rounds=len(parts))


ANSWERS = {
    "22.3": {
        "accepted": [ring, ring_at_once, ring_of_stacks, chunk_by_chunk],
        "wrong": [
            (without_sending, "nothing was sent"),
            (by_one_worker, "its right neighbor is"),
            (leftwards, "Everything went to the left"),
            (everything_around, "each worker sent 6 chunks, and 4 are enough"),
            (whole_gradients, "each worker sent 6 chunks, and 4 are enough"),
            (one_step_more, "each worker sent 5 chunks"),
            (added_again, "It is not added"),
            (only_scattered, "all-gather is missing"),
            (wrong_chunk, "No worker has sent a complete sum"),
            (other_way_of_chunks, "No sum has gone around the ring"),
            (added_twice, "each worker's part is added once"),
            (in_place, "changed its input"),
            (added_to_the_tensor, "on a tensor changes that tensor"),
            (one_round, "left neighbor"),
            (reads_without_send, "Go on with what `send` returns"),
            (unchanged, "add it to a chunk"),
            (nothing_sent, "Nothing was sent"),
            (receiver_without_modulo, "take the numbers modulo N"),
            (sender_minus_one, "sent from -3 to 1"),
            (index_without_modulo, "N is len(parts)"),
            (tensor_first, "The order is send(sender, receiver, tensor)"),
            (mean_of_them, "This is the mean"),
            (turned_rows, "the sum of another chunk"),
            (one_row_only, "whose entries are not lists of 3"),
        ],
    }
}
