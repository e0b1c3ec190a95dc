"""Exercise 22.2: Dynamic loss scaling."""

from itertools import product

from bertedu.chapters.ch22_many_gpus.exercises.shared import counted, expect_number, written
from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise


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
