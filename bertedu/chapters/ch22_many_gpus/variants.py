"""Variants of chapter 22: a loss scale that moves by another rule, and the bytes of mixed precision by stage."""

from itertools import product

import torch

from bertedu.chapters.ch22_many_gpus.exercises.exercise_2 import rule
from bertedu.chapters.ch22_many_gpus.exercises.exercise_4 import zero_bytes
from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

COUNTS = ((0, 3), (2, 3), (1, 3), (0, 1))  # clean steps so far, and the interval
FACTORS = ((4, 2), (2, 4), (8, 2), (2, 8), (4, 8), (8, 4))  # times, divided by


def scaling(draws: Draws) -> Variant:
    """Dynamic loss scaling with other factors and a floor, its parts returned in another order."""
    (grow, shrink), lowest = draws.pick(FACTORS), draws.pick((16, 32, 64))

    def reference(scale: float, clean: int, finite: bool, interval: int) -> tuple[float, int, bool]:
        if not finite:
            return max(scale / shrink, lowest), 0, False
        return (scale * grow, 0, True) if clean + 1 == interval else (scale, clean + 1, True)

    def examine(case: Case) -> None:
        for finite, (clean, interval), scale in product(
            (True, False), ((0, 3), (2, 3), (1, 3), (0, 1)), (4096.0, lowest)
        ):
            kind = "finite gradients" if finite else "an infinite gradient"
            tried = f"S = {scale:g}, {clean} clean steps, {kind}, an interval of {interval}"
            got = case.parts(case.call(scale, clean, finite, interval, tried=tried), "next S", "next count", "taken")
            right, copied = reference(scale, clean, finite, interval), rule(scale, clean, finite, interval)
            if got == copied:
                case.fail(COPIED.format(number="22.2"), "The factors are others here, and S comes first.")
            late = scale * grow if finite and clean == interval else scale
            case.equal(
                "the next S",
                got[0],
                right[0],
                f"S is multiplied by {grow} or divided by {shrink}.",
                mistakes=[
                    (scale * grow if finite else None, "S grows after clean steps in a row, not after each one."),
                    (scale / shrink, f"S never goes below {lowest}."),
                    (scale * shrink if finite else scale / grow, "The two factors are swapped."),
                    (scale * 2 if finite else scale / 2, "These are the factors of the chapter."),
                    (late if finite else None, "This clean step counts, too: it may complete the interval."),
                    (
                        scale * grow if finite else None,
                        "S grows after so many clean steps in a row, not after each one.",
                    ),
                    (scale * grow, "The gradients were too large. Should S grow?"),
                ],
            )
            advice = "The count starts again at zero whenever a step is skipped or the interval is complete."
            case.equal("the next count", got[1], right[1], advice)
            case.equal(
                "whether the step is taken", bool(got[2]), right[2], "A step with an infinite gradient is skipped."
            )

    text = (
        "Write `next_scale(scale, clean_steps, finite, interval)` for another rule. If a gradient is not finite, the "
        f"step is skipped and S is divided by **{shrink}**, but S never goes below **{lowest}**. When `interval` clean "
        f"steps in a row are complete (this one counts), S is multiplied by **{grow}**. In both cases the count "
        "starts again at zero. Return the next S, the next count, and whether the step is taken, in this order."
    )
    hints = (
        "Three cases: a gradient that is not finite, a clean step that completes the interval, any other clean step.",
        f"max(scale / {shrink}, {lowest}) in the first case. In the second, clean_steps + 1 equals the interval.",
    )
    exercise = Exercise("22.11", "A loss scale with a floor", 2, 10, hints, examine)
    return Variant(exercise, text, "def next_scale(scale, clean_steps, finite, interval):")


def stages(draws: Draws) -> Variant:
    """Bytes by stage in mixed precision: 16-bit weights, a float32 copy that belongs to the optimizer, other means."""
    gradient, means = draws.pick(((2, 1), (4, 1), (2, 3), (4, 3), (4, 2)))

    def kept(weights: float, workers: int, stage: int, master: int = 4) -> float:
        parts = (master + 4 * means, gradient, 2)
        return weights * sum(part / (workers if stage > number else 1) for number, part in enumerate(parts))

    def examine(case: Case) -> None:
        for (weights, workers), stage in product(((1_000_000, 4), (336_000_000, 8), (10, 1)), (1, 2, 3, 0)):
            got = case.call(weights, workers, stage, tried=f"{weights:,} weights, {workers} workers, stage {stage}")
            got = float(got) if isinstance(got, int | float) else got
            published = zero_bytes(weights, workers, stage)
            if stage and workers > 1 and got == published != kept(weights, workers, stage):
                case.fail(COPIED.format(number="22.4"), "Weights, gradients and means have other sizes here.")
            unshared = kept(weights, workers, stage) + weights * 4 * (1 - 1 / workers)
            case.close(
                "the bytes",
                got,
                torch.tensor(kept(weights, workers, stage)),
                "Write down what belongs to the optimizer, and which stage shares out what.",
                mistakes={
                    "The copy in float32 belongs to the optimizer: stage 1 shares it out, too.": unshared,
                    "The copy of the weights in float32 is missing.": kept(weights, workers, stage, master=0),
                    "This is what all workers keep together. How much does each keep?": (
                        workers * kept(weights, workers, stage)
                    ),
                    "This is what stage 3 keeps. This stage shares out less.": kept(weights, workers, 3),
                    "This is what stage 0 keeps. This stage shares something out.": kept(weights, workers, 0),
                },
            )

    text = (
        f"In mixed precision each weight takes 2 bytes and its gradient **{gradient}** bytes. The optimizer keeps a "
        f"copy of the weight in float32 and **{means}** running mean{'s' * (means > 1)} in float32; all of this counts "
        "as the optimizer's. Write `training_bytes(weights, workers, stage)`: the bytes that each worker keeps in "
        "ZeRO's stages 0 to 3. Stage 1 shares out what is the optimizer's, stage 2 also the gradients, stage 3 also "
        "the weights."
    )
    hints = (
        "How many bytes are the optimizer's for each weight? Do not forget the copy.",
        f"The optimizer's: 4 + {means} · 4. Then 2 for the weight and {gradient} for the gradient.",
    )
    exercise = Exercise("22.12", "Bytes by stage in mixed precision", 3, 10, hints, examine)
    return Variant(exercise, text, "def training_bytes(weights, workers, stage):")


MAKERS = {"22.11": scaling, "22.12": stages}
