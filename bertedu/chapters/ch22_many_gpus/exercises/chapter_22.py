"""Exercises of chapter 22: what limits a run, the scale of fp16, and what each of several workers keeps."""

import math
from itertools import product
from numbers import Real
from typing import Any

from torch import Tensor

from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise

MODELS = ((1_000_000, 4), (336_000_000, 8), (10, 1))  # weights and workers


def expect_number(case: Case, name: str, got: Any, right: float, advice: str, mistakes: list[tuple]) -> None:
    """Not yet, unless `got` is the number `right`, up to rounding.

    mistakes: pairs of what a known mistake gives and the sentence that explains it; the first that fits is said.
    """
    if isinstance(got, Tensor) and got.numel() == 1:
        got = got.item()
    case.expect(
        isinstance(got, Real) and not isinstance(got, bool),
        f"But {name} should be a single number, and it is {said(got)}.",
    )
    value = float(got)
    if not math.isclose(value, right, rel_tol=1e-5):
        known = [sentence for wrong, sentence in mistakes if math.isclose(value, wrong, rel_tol=1e-5)]
        digits = 4 if written(value) != written(right) else 9
        came, wanted = written(value, digits), written(right, digits)
        case.fail(f"But {name} is {came} and should be {wanted}.", *(known or [advice])[:1])


def written(value: float, digits: int = 4) -> str:
    """A number as people write it: 16,000,000 and not 1.6e+07."""
    return f"{value:,.0f}" if digits == 4 and 1000 <= abs(value) < 1e15 else f"{value:.{digits}g}"


def counted(number: int, thing: str) -> str:
    """1 worker, 4 workers."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


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
        "Count two things: the operations, and the numbers that are read or written. How many numbers does each of "
        "the three matrices have?",
        "2 · rows · inner · columns operations; rows · inner + inner · columns + rows · columns numbers of size bytes.",
    ),
)
def arithmetic_intensity(case: Case) -> None:
    for rows, inner, columns, size in ((4, 6, 10, 4), (16, 768, 3072, 2), (1, 1, 1, 4), (512, 64, 512, 2)):
        tried = f"a [{rows}, {inner}] and a [{inner}, {columns}] matrix of {size} bytes a number"
        got = case.call(rows, inner, columns, size, tried=tried)
        advice = (
            f"Count with a pencil: {2 * rows * inner * columns:,} operations, and "
            f"{rows * inner:,} + {inner * columns:,} + {rows * columns:,} numbers of {size} bytes."
        )
        right = product_intensity(rows, inner, columns, size)
        expect_number(case, "the intensity", got, right, advice, intensity_mistakes(rows, inner, columns, size))
    case.close_with("For square matrices of 4-byte numbers it is n / 6: large products are worth the memory traffic.")


def intensity_mistakes(rows: int, inner: int, columns: int, size: int) -> list[tuple[float, str]]:
    """What known mistakes of exercise 22.1 give, and what is said to them. The first try has 4 bytes a number."""
    operations, right = 2 * rows * inner * columns, product_intensity(rows, inner, columns, size)
    left, other, result = rows * inner, inner * columns, rows * columns
    numbers = left + other + result
    fixed = f"Here a number takes {size} bytes. Use `size`, not a fixed number."
    three = "`size` counts for the numbers of all three matrices. Put parentheses around their sum."
    return [
        (operations / (4 * numbers), fixed),
        (operations / (2 * numbers), fixed),
        (right / 2, "A multiplication and its addition are two operations."),
        (right * size, "These are operations for each number, and a number has several bytes."),
        (
            operations / (size * (left + other)),
            "These are the bytes that are read. The result is written, too.",
        ),
        (operations / (size * (left + result)), "The second matrix is missing in the bytes. It is read, too."),
        (operations / (size * (other + result)), "The first matrix is missing in the bytes. It is read, too."),
        (1 / right, "This is the other way round: bytes for each operation."),
        (right / 8, "`size` is in bytes already, not in bits."),
        (
            operations / size * numbers,
            "Python goes from left to right. Put parentheses around the bytes.",
        ),
        (operations / (size * left + other + result), three),
        (result * (2 * inner - 1) / (size * numbers), "Every multiplication counts with an addition: 2 · inner."),
        (2 * result / (size * numbers), "Each number of the result is a sum over `inner` products."),
        (
            operations / (size * (rows + inner + columns)),
            "A matrix of rows and columns has rows · columns numbers: multiply, do not add.",
        ),
        *(
            (wrong, "Each matrix is read once: a number that is used several times stays near the processor.")
            for wrong in (1 / size, operations / (size * (operations + result)))
        ),
        (operations // (size * numbers), "`//` rounds down. Divide with `/`."),
        (operations, "This is the number of operations. Divide by the bytes."),
        (size * numbers, "These are the bytes. Divide the operations by them."),
    ]


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
    order = "Return three things in this order: whether the optimizer takes the step, the next S, the next count."
    for finite, (clean, interval), scale in product(
        (True, False), ((0, 3), (1, 3), (1999, 2000), (2, 3), (0, 1)), (1024.0, 8, 1.0, 65536.0)
    ):
        kind = "finite gradients" if finite else "an infinite gradient"
        tried = f"S = {written(scale)}, {counted(clean, 'clean step')}, {kind} and an interval of {interval:,}"
        got = case.call(scale, clean, finite, interval, tried=tried)
        taken, following, count = map(plain, case.parts(got, "take_the_step", "next_scale", "next_count"))
        right = rule(scale, clean, finite, interval)
        shown = written(taken) if isinstance(taken, float) else said(taken)
        case.expect(
            isinstance(taken, int | float) and taken in (0, 1),
            f"But the first of the three should be True or False, and it is {shown}.",
            order,
        )
        case.expect(
            bool(taken) == right[0],
            f"But whether the step is taken is {bool(taken)}, and should be {right[0]}.",
            "All gradients are finite, so the optimizer can use them."
            if finite
            else "An infinite gradient would make every weight infinite or nan.",
        )
        if following == right[2] != right[1] == count:
            case.fail(f"But the second of the three should be the next S, and {said(following)} is the count.", order)
        advice = "S is halved after an infinite gradient, and doubled when the interval is complete."
        expect_number(case, "the next S", following, right[1], advice, scale_mistakes(scale, clean, finite, interval))
        count = int(count) if isinstance(count, bool) else count  # as in `finite and clean_steps + 1`
        advice = "The count starts at zero whenever S changes."
        expect_number(case, "the next count", count, right[2], advice, count_mistakes(scale, clean, finite, interval))
    case.tried = [f"{len(case.tried)} steps, with finite and infinite gradients and intervals of 1, 3 and 2,000"]
    case.close_with("This is what torch.amp.GradScaler does, with an interval of 2,000.")


def scale_mistakes(scale: float, clean: int, finite: bool, interval: int) -> list[tuple[float, str]]:
    """What known mistakes make of S in exercise 22.2. An interval of 3 is completed only after one of 2,000."""
    if finite:
        unchanged = "This step counts, too: it may be the one that completes the interval."
        if interval == 3:
            unchanged = "With an interval of 2,000 S was doubled in time. Use `interval`, not a fixed number."
        if scale == 65536:
            unchanged = "A smaller S was doubled. This rule has no largest S."
        return [
            (scale, unchanged),
            (scale * 2, "S is doubled after `interval` clean steps in a row, not after each one."),
            (scale / 2, "All gradients are finite here, so S does not get smaller."),
        ]
    stays = "S stays too large, and the next step will be infinite again."
    return [
        (scale * 2, "The gradients were too large. Should S grow?"),
        (scale, "A larger S was halved. This rule has no smallest S." if scale == 1 else stays),
        (scale // 2, "`//` rounds down. Divide with `/`."),
    ]


def count_mistakes(scale: float, clean: int, finite: bool, interval: int) -> list[tuple[float, str]]:
    """What known mistakes make of the count in exercise 22.2."""
    if not finite:
        return [
            (clean + 1, "This step is not a clean one. It ends the row, and the count starts again at zero."),
            (clean, "The step is not clean, and the steps in a row end here: zero."),
        ]
    return [
        (clean + 1, "S has changed, so the count starts again at zero."),
        (clean, "This clean step has not been counted."),
        (1, "The step that changes S does not count for the new S: zero."),
    ]


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
    for (weights, workers), stage in product(MODELS, range(4)):
        tried = f"{counted(weights, 'weight')}, {counted(workers, 'worker')}, stage {stage}"
        got = case.call(weights, workers, stage, tried=tried)
        advice = "Write down the three parts, and divide those that this stage shares out."
        right = zero_bytes(weights, workers, stage)
        expect_number(case, "the number of bytes", got, right, advice, stage_mistakes(weights, workers, stage))
    case.tried = ["stages 0 to 3 with 1, 4 and 8 workers"]
    case.close_with("In stage 3 each worker keeps 16 / N bytes for each weight. PyTorch calls it FSDP.")


def stage_mistakes(weights: int, workers: int, stage: int) -> list[tuple[float, str]]:
    """What known mistakes of exercise 22.4 give. Stage 0 is tried first: who fails later, got 16 bytes right."""
    right = zero_bytes(weights, workers, stage)
    units = "The table's numbers are for each weight. Multiply by the number of weights."
    found = [(right / weights, units), (right / 1e9, "These are gigabytes."), (right / 2**30, "These are gigabytes.")]
    if stage == 0:
        found += [
            (workers * right, "This is what all workers keep together. How much does each keep?"),
            (weights * 12, "AdamW has two means of 4 bytes each."),
            (weights * 8, "AdamW's two means are missing: 4 bytes each."),
        ]
    divided, whole = ((8, 8), (12, 4), (16, 0))[stage - 1] if stage else (0, 16)
    floors = sum(part // workers if number < stage else part for number, part in enumerate((8, 4, 4)))
    found += [
        (weights * (whole + divided * workers), "This grows with the workers. What is shared out is divided by them."),
        (weights * floors, "`//` rounds down. Divide with `/`."),
        (zero_bytes(weights, 8, stage), f"Here there are {workers} workers. Use `workers`, not a fixed number."),
        (
            weights * (12 + 4 / workers) if stage == 1 else 0,
            "Stage 1 shares out the optimizer's two means, 8 of the 16 bytes. This divides 4 of them.",
        ),
        (
            weights * (12 + 4 / workers) if stage > 1 else 0,
            f"Each stage keeps what the stages before it share out: stage {stage} divides {divided} of the 16 bytes.",
        ),
    ]
    if workers > 2:
        found.append((zero_bytes(weights, workers - 1, stage), "N workers share, so divide by N, not by N − 1."))
    others = sorted(set(range(4)) - {stage}, key=lambda other: abs(other - stage))
    for other in others:
        amount = "shares nothing out" if stage == 0 else f"divides {divided} of the 16 bytes"
        found.append(
            (zero_bytes(weights, workers, other), f"This is what stage {other} keeps. Stage {stage} {amount}.")
        )
    return found
