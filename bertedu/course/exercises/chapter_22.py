"""Exercises of chapter 22: what limits a run, the scale of fp16, and what each of several workers sends and keeps."""

from itertools import product
from typing import Any

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


def product_intensity(rows: int, inner: int, columns: int, size: int) -> float:
    """Operations for each byte of a matrix product, each matrix going through memory once."""
    numbers = rows * inner + inner * columns + rows * columns
    return 2 * rows * inner * columns / (size * numbers)


@exercise(
    "22.1",
    "Arithmetic intensity",
    difficulty=1,
    minutes=6,
    hints=(
        "Count two things: operations, and numbers that go through memory. How many numbers has each matrix?",
        "2 · rows · inner · columns operations; rows · inner + inner · columns + rows · columns numbers of size bytes.",
    ),
)
def arithmetic_intensity(case: Case) -> None:
    for rows, inner, columns, size in ((16, 768, 3072, 2), (4, 6, 10, 4), (1, 1, 1, 4), (512, 64, 512, 2)):
        tried = f"a [{rows}, {inner}] and a [{inner}, {columns}] matrix of {size} bytes a number"
        got = case.call(rows, inner, columns, size, tried=tried)
        right = product_intensity(rows, inner, columns, size)
        operations, numbers = 2 * rows * inner * columns, rows * inner + inner * columns + rows * columns
        mistakes = {
            "A multiplication and its addition are two operations.": right / 2,
            "These are operations for each number, and a number has several bytes.": right * size,
            "This divides by the numbers that are read. The result is written, too.": (
                operations / (size * (rows * inner + inner * columns))
            ),
            "This is the other way round: bytes for each operation.": 1 / right,
            "Each matrix is read once: a number that is used several times stays near the processor.": 1 / size,
            "This is the number of operations. Divide by the bytes.": operations,
            "These are the bytes. Divide the operations by them.": size * numbers,
        }
        case.close("the intensity", got, torch.tensor(right), "Count with a pencil.", mistakes=mistakes)
    case.close_with("For square matrices of 4-byte numbers it is n / 6: large products are worth the memory traffic.")


def rule(scale: float, clean_steps: int, finite: bool, interval: int) -> tuple[bool, float, int]:
    """Dynamic loss scaling: whether to take the step, the next scale and the next count of clean steps.

    Micikevicius et al. 2018, "Mixed Precision Training", section 3.2.
    """
    if not finite:
        return False, scale / 2, 0
    if clean_steps + 1 == interval:
        return True, scale * 2, 0
    return True, scale, clean_steps + 1


@exercise(
    "22.2",
    "Dynamic loss scaling",
    difficulty=2,
    minutes=8,
    hints=(
        "Three cases: a gradient that isn't finite, a clean step that completes the interval, any other clean step.",
        "Does this step count? With interval = 3 and clean_steps = 2, this clean step is the third one.",
    ),
)
def dynamic_scaling(case: Case) -> None:
    for finite, (clean, interval), scale in product(
        (True, False), ((0, 3), (1, 3), (2, 3), (0, 1), (1999, 2000)), (1024.0, 8)
    ):
        kind = "finite gradients" if finite else "an infinite gradient"
        tried = f"S = {scale:g}, {clean} clean steps, {kind} and an interval of {interval}"
        taken, following, count = case.parts(
            case.call(scale, clean, finite, interval, tried=tried), "take the step", "next S", "next count"
        )
        right = rule(scale, clean, finite, interval)
        case.equal(
            "whether the step is taken",
            bool(taken) if isinstance(taken, int) else taken,
            right[0],
            "An infinite gradient would make every weight infinite or nan."
            if not finite
            else "Nothing speaks against it.",
        )
        late = (True, scale * 2, 0) if clean == interval else (True, scale, clean + 1)
        case.equal(
            "the next S",
            following,
            right[1],
            "S is halved after an infinite gradient, and doubled when the interval is complete.",
            mistakes=[
                (scale * 2 if not finite else None, "The gradients were too large. Should S grow?"),
                (late[1] if finite else None, "This step counts, too: it may be the one that completes the interval."),
                (scale * 2 if finite else None, "S is doubled after so many clean steps in a row, not after each one."),
                (
                    scale,
                    "S stays too large, and the next step will be infinite again." if not finite else "S never grows.",
                ),
            ],
        )
        case.equal(
            "the next count",
            count,
            right[2],
            "The count starts at zero whenever S changes.",
            mistakes=[
                (clean + 1, "S has changed, so the count starts again at zero."),
                (clean, "This clean step has not been counted." if finite else "The steps in a row end here: zero."),
                (1, "The step that changes S does not count for the new S: zero."),
            ],
        )
    case.close_with("This is what torch.amp.GradScaler does, with an interval of 2,000.")


@exercise(
    "22.3",
    "Around the ring",
    difficulty=3,
    minutes=15,
    hints=(
        "Copy the nested list first. Then two loops over N − 1 steps, and in each a loop over the workers.",
        "Reduce-scatter: chunk (w − s) mod N goes to worker (w + 1) mod N and is added there. All-gather: chunk "
        "(w + 1 − s) mod N, and it replaces what is there.",
    ),
)
def around_the_ring(case: Case) -> None:
    for workers in (3, 2, 4, 1):
        parts = [[case.randn(2 + chunk) for chunk in range(workers)] for _ in range(workers)]
        sent: list[tuple[int, int, int]] = []

        def send(sender: Any, receiver: Any, tensor: Any, workers: int = workers, sent: list = sent) -> Tensor:
            case.is_a("what is sent", tensor, Tensor, "a tensor, one chunk")
            case.expect(
                sender in range(workers) and receiver in range(workers),
                f"But it sent from {sender} to {receiver}, and the workers are 0 to {workers - 1}.",
            )
            sent.append((sender, receiver, tensor.numel()))
            return tensor.clone()

        got = case.call(parts, send, tried=f"{workers} workers")
        case.expect(
            isinstance(got, tuple | list) and len(got) == workers and all(len(row) == workers for row in got),
            f"But a list of {workers} workers with {workers} chunks each is asked for.",
        )
        sums = [torch.stack([row[chunk] for row in parts]).sum(dim=0) for chunk in range(workers)]
        far = [(one, other) for one, other, _ in sent if other != (one + 1) % workers]
        case.expect(not far, *around(far, workers))
        complete = [[w for w in range(workers) if is_close(got[w][chunk], sums[chunk])] for chunk in range(workers)]
        case.expect(
            workers == 1 or any(len(holders) != 1 for holders in complete),
            "But each sum is complete in one worker only: reduce-scatter is right, and all-gather is missing or wrong.",
            "The complete chunks go around once more, and what arrives replaces what is there. It is not added.",
        )
        for worker, chunk in product(range(workers), range(workers)):
            one = parts[worker][chunk]
            case.close(
                f"chunk {chunk} of worker {worker}",
                got[worker][chunk],
                sums[chunk],
                "Follow this chunk around the ring with a pencil: where is it added, and where does it replace?",
                mistakes={
                    "This is what the worker had at the beginning. In which step should this chunk arrive?": one,
                    "Only the chunk of the left neighbor has been added.": one + parts[worker - 1][chunk],
                },
            )
        most = 2 * (workers - 1)
        counts = [sum(sender == worker for sender, _, _ in sent) for worker in range(workers)]
        case.expect(
            workers == 1 or bool(sent),
            "The sums are right, but nothing was sent: a worker only knows its own chunks.",
            "Let every chunk of another worker go through send.",
        )
        case.expect(
            counts == [most] * workers,
            f"The sums are right, but the workers sent {counts} chunks, and {most} each are enough.",
            "In each of the 2 (N − 1) steps every worker sends one chunk.",
        )
    case.refuse_in_place()
    case.close_with("Each worker has sent 2 (N − 1)/N of its gradient, and nobody more than anybody else.")


def around(far: list[tuple[int, int]], workers: int) -> tuple[str, ...]:
    """What is said where somebody sends to a worker who is not the right neighbor."""
    if not far:
        return ()
    one, other = far[0]
    return (
        f"But worker {one} sent to worker {other}, and its right neighbor is {(one + 1) % workers}.",
        "In a ring everybody sends to the right neighbor only; the last one's neighbor is worker 0.",
    )


def zero_bytes(weights: float, workers: int, stage: int) -> float:
    """The bytes that each worker keeps for weights, gradients and AdamW's means in float32.

    Rajbhandari et al. 2020, "ZeRO", section 5.
    """
    kept = 4 / (workers if stage >= 3 else 1) + 4 / (workers if stage >= 2 else 1) + 8 / (workers if stage >= 1 else 1)
    return weights * kept


@exercise(
    "22.4",
    "Bytes by stage",
    difficulty=2,
    minutes=6,
    hints=(
        "Start with stage 0: 16 bytes for each weight. Which part does stage 1 divide by N?",
        "Stage 1 divides the means (8 bytes), stage 2 also the gradients (4), stage 3 also the weights (4).",
    ),
)
def bytes_by_stage(case: Case) -> None:
    for (weights, workers), stage in product(((1_000_000, 4), (336_000_000, 8), (10, 1)), range(4)):
        got = case.call(weights, workers, stage, tried=f"{weights:,} weights, {workers} workers, stage {stage}")
        share = [zero_bytes(weights, workers, other) for other in range(4)]
        case.close(
            "the bytes",
            float(got) if isinstance(got, int | float) else got,
            torch.tensor(share[stage]),
            "Write down the three parts, and divide those that this stage shares out.",
            mistakes={
                "This is what all workers keep together. How much does each keep?": workers * share[stage],
                "Each stage keeps what the stages before it share out: stage 2 shares means and gradients.": (
                    weights * (16 - {1: 8, 2: 4, 3: 4}.get(stage, 0) * (1 - 1 / workers))
                ),
                "Stage 1 shares out the largest part first, the optimizer's means.": (
                    weights * {1: 12 + 4 / workers, 2: 8 + 8 / workers}.get(stage, 0.0)
                ),
                "This is what ZeRO's stage 3 keeps. This stage shares out less.": share[3],
                "This is what stage 0 keeps. This stage shares something out.": share[0],
                "AdamW has two means of 4 bytes each.": zero_bytes(weights, workers, stage)
                - weights * 4 / (workers if stage >= 1 else 1),
            },
        )
