"""Whiteboard drill: BERT's learning-rate schedule."""

import math
from collections.abc import Callable

import torch

from bertedu.course.case import Case
from bertedu.interview.drills.drill import Drill

TASK = """
Write `learning_rate(step, peak, warmup_steps, total_steps)`: BERT's schedule, as one number for one step.

- From step 0 to step warmup_steps the learning rate rises linearly from 0 to peak.
- From there to step total_steps it falls linearly from peak to 0.
- After total_steps it stays 0.

step, warmup_steps and total_steps are whole numbers, step counts from 0, and 0 <= warmup_steps < total_steps: there may
be no warm-up at all. Return a float.
"""

STUB = """
def learning_rate(step, peak, warmup_steps, total_steps):
    raise NotImplementedError
"""

SOLUTION = """
def learning_rate(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return peak * max(0.0, (total_steps - step) / (total_steps - warmup_steps))
"""

Rule = Callable[[float, float, float], float]  # (step, warmup_steps, total_steps) -> the share of the peak
STEPS = (0, 1, 3, 9, 10, 11, 40, 55, 99, 100)


def right(step: float, warmup: float, total: float) -> float:
    """The schedule as a share of the peak."""
    return step / warmup if step < warmup else max(0.0, (total - step) / (total - warmup))


def cosine(step: float, warmup: float, total: float) -> float:
    """With the decay of a cosine."""
    return step / warmup if step < warmup else (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2


MISTAKES: dict[str, Rule] = {
    "It does not depend on `peak`: you return the share of it. Multiply by peak.": right,
    "There is no warm-up: the first steps get the full learning rate.": lambda s, w, t: (
        1.0 if s < w else right(s, w, t)
    ),
    "After the warm-up it stays at the peak. It should fall to 0 at total_steps.": lambda s, w, t: min(1.0, s / w),
    "The line falls from step 0 on, over total_steps, so there is a jump at the end of the warm-up. "
    "(Google's code does that; the task asks for a line from the peak.)": lambda s, w, t: (
        s / w if s < w else (t - s) / t
    ),
    "The decay should take total_steps - warmup_steps. You divide by total_steps and end above 0.": lambda s, w, t: (
        s / w if s < w else 1 - (s - w) / t
    ),
    "It jumps where the warm-up ends. There should be no step at which it is more than the peak, or doubles.": (
        lambda s, w, t: s / w if s <= w else 1 - s / (t - w)
    ),
    "You count from 1: step 0 should have a learning rate of 0.": lambda s, w, t: right(s + 1, w, t),
    "Your warm-up counts from 1: it begins at 0, so step 0 has a learning rate of 0.": lambda s, w, t: (
        (s + 1) / w if s < w else right(s, w, t)
    ),
    "This is a cosine decay. BERT's falls along a straight line.": cosine,
    "This is whole-number division: `//` cuts each share to 0 or 1.": lambda s, w, t: float(
        s // w if s < w else max(0, (t - s) // (t - w))
    ),
    "This decays with the square root of the step, as in the Transformer paper. BERT's falls linearly.": (
        lambda s, w, t: s / w if s < w else (w / s) ** 0.5
    ),
}


def examine(case: Case) -> None:
    """One curve, then the ends: no warm-up, past the end, another peak."""
    got = [one(case, step, 0.5, 10, 100, f"step {step} of 100 with 10 of warm-up and a peak of 0.5") for step in STEPS]
    expected = [0.5 * right(step, 10, 100) for step in STEPS]
    for step, value, wanted in zip(STEPS, got, expected, strict=True):
        if math.isclose(value, wanted, rel_tol=1e-5, abs_tol=1e-7):
            continue
        factor = dict.fromkeys(MISTAKES, 0.5) | {next(iter(MISTAKES)): 1.0}
        known = [
            said for said, rule in MISTAKES.items() if alike(got, [factor[said] * rule(s, 10, 100) for s in STEPS])
        ]
        advice = "Draw the two lines: where does each begin and end, and how many steps does it take?"
        case.begin(f"I called {case.name} on all steps of a run of 100 with 10 of warm-up and a peak of 0.5.", "a run")
        case.fail(f"But at step {step} it is {value:.4g}, and should be {wanted:.4g}.", *(known[:1] or [advice]))
    case.causes = {
        "division by zero": "With no warm-up there is nothing to divide by: test `step < warmup_steps` first."
    }
    for step, share in ((0, 1.0), (50, 0.5), (100, 0.0)):
        value = one(case, step, 2.0, 0, 100, f"step {step} of 100 without warm-up")
        close(case, value, 2.0 * share, "Without warm-up it begins at the peak.")
    for step in (101, 150):
        value = one(case, step, 2.0, 10, 100, f"step {step} of 100")
        if value < 0:
            case.fail(f"But it is {value:.4g}: a negative learning rate climbs the loss. After total_steps it stays 0.")
        close(case, value, 0.0, "After total_steps it stays 0.")
    close(case, one(case, 999, 1e-4, 1, 1000, "the last step of 1000"), 1e-4 / 999, "It reaches 0 at total_steps.")


def one(case: Case, step: int, peak: float, warmup: int, total: int, tried: str) -> float:
    """The answer for one step, as a number."""
    value = case.call(step, peak, warmup, total, tried=tried)
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        value = value.item()
    case.expect(
        isinstance(value, int | float) and not isinstance(value, bool),
        "But it should return one number, the learning rate of that step.",
    )
    return float(value)


def alike(got: list[float], wrong: list[float]) -> bool:
    """Whether a known mistake gives these numbers."""
    return all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7) for a, b in zip(got, wrong, strict=True))


def close(case: Case, value: float, wanted: float, advice: str) -> None:
    """Not yet, unless the number is the one expected."""
    if not math.isclose(value, wanted, rel_tol=1e-5, abs_tol=1e-9):
        case.fail(f"But it is {value:.4g}, and should be {wanted:.4g}.", advice)


DRILL = Drill(
    name="learning-rate",
    title="BERT's learning-rate schedule",
    minutes=5,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="08",
    section="Four protections",
    hints=(
        "Two straight lines: one over warmup_steps, one over total_steps - warmup_steps. What is each at both ends?",
        "step / warmup_steps before the warm-up ends, (total_steps - step) / (total_steps - warmup_steps) after it, "
        "at least 0; both times peak.",
    ),
    examine=examine,
)
