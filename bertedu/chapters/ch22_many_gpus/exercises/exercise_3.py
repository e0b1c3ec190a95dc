"""Exercise 22.3: Around the ring."""

from collections.abc import Callable
from itertools import product
from typing import Any

import torch
from torch import Tensor

from bertedu.chapters.ch22_many_gpus.exercises.shared import counted
from bertedu.course.case import Case
from bertedu.course.comparing import is_close, said, type_name
from bertedu.course.exercise import exercise

Parts = list[list[Tensor]]


@exercise(
    "22.3",
    "Around the ring",
    difficulty=3,
    minutes=15,
    hints=(
        "Copy the nested list first. Then write two loops over N − 1 steps, and in each of them a loop over the "
        "workers.",
        "Reduce-scatter: chunk (w − s) mod N goes to worker (w + 1) mod N and is added to its chunk of the same "
        "number. All-gather: chunk (w + 1 − s) mod N, and it replaces what is there.",
    ),
)
def around_the_ring(case: Case) -> None:
    for workers in (3, 2, 4, 1):
        parts = pencil() if workers == 3 else [[case.randn(5) for _ in range(workers)] for _ in range(workers)]
        examine_ring(case, parts)
        if case.in_place:
            case.almost(
                f"The sums are right, but {case.name} changed its input `parts`.",
                "A copied list still holds the same tensors, and `+=` on a tensor changes that tensor. "
                "Write a = a + b, or clone the chunks first.",
            )
    examine_silent_ring(case)
    case.tried = ["rings of 1 to 4 workers", "one in which only zeros arrive"]
    case.close_with("Each worker has sent 2 (N − 1)/N of its gradient, and nobody more than anybody else.")


def pencil() -> Parts:
    """The numbers of the chapter: 1, 2, 3 in worker 0, 10, 20, 30 in worker 1 and 100, 200, 300 in worker 2."""
    return [[torch.tensor([10.0**worker * (chunk + 1)]) for chunk in range(3)] for worker in range(3)]


def sending(case: Case, workers: int, sent: list, silent: bool = False) -> Callable:
    """A `send` that keeps a record in `sent`; where it is silent, only zeros arrive."""

    def send(sender: Any, receiver: Any, tensor: Any) -> Tensor:
        case.expect(
            isinstance(tensor, Tensor),
            f"But what is sent should be a tensor, one chunk, and it is {said(tensor)}.",
            "The order is send(sender, receiver, tensor).",
        )
        case.expect(
            sender in range(workers) and receiver in range(workers),
            f"But it sent from {sender} to {receiver}, and the workers are 0 to {workers - 1}.",
            "The right neighbor of the last worker is worker 0: take the numbers modulo N.",
        )
        sent.append((int(sender), int(receiver), tensor.detach().clone()))
        return torch.zeros_like(tensor) if silent else tensor.clone()

    return send


def examine_ring(case: Case, parts: Parts) -> None:
    """One ring: who sends to whom, what each has in the end, and how much was sent."""
    workers, sent = len(parts), list[tuple[int, int, Tensor]]()
    sums = [torch.stack(column).sum(dim=0) for column in zip(*parts, strict=True)]
    numbers = f"Workers and chunks are numbered modulo N, and N is len(parts): {workers} here."
    case.causes = {"index out of range": numbers}
    got = case.call(parts, sending(case, workers, sent), tried=counted(workers, "worker"))
    expect_nested(case, got, workers)
    case.expect(all(other == (one + 1) % workers for one, other, _ in sent), *wrong_neighbor(sent, workers))
    holders = [sum(is_close(got[w][chunk], sums[chunk]) for w in range(workers)) for chunk in range(workers)]
    case.expect(
        workers == 1 or any(number != 1 for number in holders),
        "But each sum is complete in one worker only: reduce-scatter is right, and all-gather is missing or wrong.",
        "The complete chunks go around once more, and what arrives replaces what is there. It is not added.",
    )
    for worker, chunk in product(range(workers), range(workers)):
        here = got[worker][chunk]
        case.same_shape(f"chunk {chunk} of worker {worker}", here, sums[chunk])
        case.right.clear()  # nine shapes would hide what matters
        if not is_close(here, sums[chunk]):
            case.fail(
                f"But chunk {chunk} of worker {worker} is {numbers_of(here)} and should be {numbers_of(sums[chunk])}.",
                cause(got, parts, sums, sent, worker, chunk),
            )
    case.expect(
        workers == 1 or sent,
        "The sums are right, but nothing was sent: a worker only knows its own chunks.",
        "Let every chunk of another worker go through send.",
    )
    most, size = 2 * (workers - 1), parts[0][0].numel()
    amounts = [sum(tensor.numel() for one, _, tensor in sent if one == worker) / size for worker in range(workers)]
    each = f"each worker sent {amounts[0]:g} chunks, and {most} are enough."
    if len(set(amounts)) > 1:
        each = f"the workers sent {', '.join(f'{amount:g}' for amount in amounts)} chunks, and {most} each are enough."
    case.expect(
        amounts == [most] * workers,
        f"The sums are right, but {each}",
        "In each of the 2 (N − 1) steps every worker sends one chunk.",
    )


def expect_nested(case: Case, got: Any, workers: int) -> None:
    """Not yet, unless it is a list of workers, each with a list of as many chunks (or a tensor of them)."""
    wanted = f"But a list of {workers} workers with {workers} chunks each is asked for, and it returned"
    case.expect(isinstance(got, list | tuple), f"{wanted} {type_name(got)}.")
    case.expect(len(got) == workers, f"{wanted} {len(got)} things.")
    for row in got:
        nested = isinstance(row, list | tuple) or (isinstance(row, Tensor) and row.ndim > 1)
        case.expect(
            nested and len(row) == workers,
            f"{wanted} a list whose entries are not lists of {workers}. One of them is {said(row)}.",
        )


def wrong_neighbor(sent: list[tuple[int, int, Tensor]], workers: int) -> tuple[str, ...]:
    """What is said where somebody sends to a worker who is not the right neighbor."""
    far = [(one, other) for one, other, _ in sent if other != (one + 1) % workers]
    if not far:
        return ()
    one, other = far[0]
    advice = "In a ring everybody sends to the right neighbor only; the last one's neighbor is worker 0."
    if all(receiver == (sender - 1) % workers for sender, receiver, _ in sent):
        advice = "Everything went to the left. Worker w sends to (w + 1) mod N: send(sender, receiver, tensor)."
    return f"But worker {one} sent to worker {other}, and its right neighbor is {(one + 1) % workers}.", advice


def cause(got: Any, parts: Parts, sums: list[Tensor], sent: list, worker: int, chunk: int) -> str:
    """What probably went wrong where a chunk is not the sum."""
    workers, here = len(parts), got[worker][chunk]
    loads = [added_up(tensor, parts) for _, _, tensor in sent]
    every = list(product(range(workers), repeat=2))
    if not sent:
        return "Nothing was sent. What other workers have comes through send only."
    if all(is_close(got[w][c], parts[w][c]) for w, c in every):
        return "Every worker still has its own chunks only. `send` returns what the receiver gets: add it to a chunk."
    if is_close(here, sums[chunk] / workers):
        return "This is the mean, and all-reduce gives the sum."
    if any(is_close(here, other) for other in sums):
        return "This is the sum of another chunk. What arrives as chunk c belongs to the receiver's chunk c."
    if is_close(here, parts[worker][chunk] + parts[worker - 1][chunk]) and max(loads) == 1:
        return "Only the chunk of the left neighbor has been added: the sum has to go on around the ring."
    if 0 in loads:
        return (
            "A worker sent a number that is no sum of one chunk. What arrives as chunk c belongs to the receiver's "
            "chunk c, and each worker's part is added once."
        )
    if max(loads[: workers * (workers - 1)]) < workers - 1:
        return (
            "No sum has gone around the ring. In reduce-scatter what arrives as chunk c is added to the receiver's "
            "chunk c, and in the next step the receiver sends that chunk on."
        )
    if workers not in loads:
        return (
            "No worker has sent a complete sum. After reduce-scatter worker w holds the sum of chunk w + 1, so in "
            "all-gather that is what it sends first."
        )
    return "Follow this chunk around the ring with a pencil: where is it added, and where does it replace?"


def added_up(tensor: Tensor, parts: Parts) -> int:
    """Of how many neighbors' chunks a tensor is the sum; 0 where it is something else."""
    workers = len(parts)
    for count, first, chunk in product(range(1, workers + 1), range(workers), range(workers)):
        held = torch.stack([parts[(first + number) % workers][chunk] for number in range(count)])
        if is_close(tensor, held.sum(dim=0)):
            return count
    return 0


def numbers_of(tensor: Tensor) -> str:
    """The number of a chunk of one, else all."""
    return f"{tensor.item():g}" if tensor.numel() == 1 else said(tensor)


def examine_silent_ring(case: Case) -> None:
    """Where only zeros arrive, a worker cannot know what others have: who does has read it without send."""
    parts, sent = pencil(), list[tuple[int, int, Tensor]]()
    got = case.call(parts, sending(case, 3, sent, silent=True), tried="3 workers, with a send that delivers only zeros")
    expect_nested(case, got, 3)
    for worker, chunk in product(range(3), range(3)):
        here, own = got[worker][chunk], parts[worker][chunk]
        case.same_shape(f"chunk {chunk} of worker {worker}", here, own)
        case.right.clear()
        case.expect(
            is_close(here, own) or is_close(here, torch.zeros(1)),
            f"But worker {worker} has {numbers_of(here)} in chunk {chunk}: it knows what another worker has.",
            "Go on with what `send` returns. That is what the receiver gets.",
        )
