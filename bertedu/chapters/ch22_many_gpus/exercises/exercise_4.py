"""Exercise 22.4: Bytes by stage."""

from itertools import product

from bertedu.chapters.ch22_many_gpus.exercises.shared import counted, expect_number
from bertedu.course.case import Case
from bertedu.course.exercise import exercise

MODELS = ((1_000_000, 4), (336_000_000, 8), (10, 1))  # weights and workers


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
