"""Exercise 19.1: Rotate by halves."""

import torch
from torch import Tensor

from bertedu.chapters.ch19_modernbert.exercises.shared import neighbors
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise
from bertedu.family.modernbert.rope import rotate, rotation

ANGLES = "The angles are positions[:, None] * speeds, [T, d/2]: one row for each position, one column for each pair."


@exercise(
    "19.1",
    "Rotate by halves",
    difficulty=2,
    minutes=12,
    without=("rotate", "rotation"),
    hints=(
        "Compute the angles first: positions times speeds, [T, d/2]. Then cut the vectors into their two halves.",
        "first, second = vectors.chunk(2, dim=-1). The new first half is first * cos - second * sin. What is the "
        "second? Put both halves together with torch.cat.",
    ),
)
def rotate_halves(case: Case) -> None:
    sizes = f"{ANGLES} And the halves are [B, H, T, d/2]: cut the last axis, with chunk(2, dim=-1)."
    case.causes |= {"must match the size": sizes, "mat1 and mat2": ANGLES, "size mismatch": sizes}
    case.causes["'int' and 'list'"] = "`positions` is a tensor: multiply it with the speeds."
    vectors, positions = case.randn(2, 3, 5, 8), torch.arange(5)
    result = case.call(vectors, positions, 50.0, tried="[2, 3, 5, 8], positions 0 to 4 and theta = 50")
    if isinstance(result, tuple | list):
        case.fail(f"But it returned {len(result)} things: put the halves together again, with torch.cat.")
    case.same_shape("the result", result, vectors, "Each vector keeps its d numbers.")
    compare(case, result, vectors, positions, 50.0)
    others = torch.tensor([7, 0, 300])
    vectors = case.randn(1, 2, 3, 4)
    result = case.call(vectors, others, 10_000.0, tried="the positions 7, 0 and 300")
    case.same_shape("the result", result, vectors)
    if is_close(result, rotate(vectors, rotation(torch.arange(3), 4, 10_000.0))):
        case.fail("But these are the positions 0, 1 and 2: use the positions that came.")
    compare(case, result, vectors, others, 10_000.0)
    case.refuse_in_place()
    leaf = vectors.clone().requires_grad_()
    case.begin(f"I called {case.name} on vectors that need a gradient.", "gradients")
    if not case.protected(case.answer, leaf.clone(), others, 10.0).requires_grad:
        case.fail(
            "But the result is cut off from its inputs, and a model that learns needs the gradient.",
            "Is there a `.detach()`, `.data`, `.numpy()` or `torch.no_grad()` on the way?",
        )


def compare(case: Case, result: Tensor, vectors: Tensor, positions: Tensor, theta: float) -> None:
    """Not yet, with the mistake that it looks like."""
    d = vectors.size(-1)
    k = torch.arange(d // 2)
    by, place = rotation(positions, d, theta), positions.float()[:, None]

    def with_angles(angles: Tensor) -> Tensor:
        return rotate(vectors, (angles.cos(), angles.sin()))

    cosine, sine = by
    first, second = vectors.chunk(2, dim=-1)
    upper, lower = first * cosine - second * sine, second * cosine + first * sine
    mistakes = {
        "You paired neighbors, 2k with 2k + 1, as the paper does. Here number k goes with number k + d/2.": neighbors(
            vectors, place * theta ** (-2 * k / d)
        ),
        "You rotated the other way: check the two signs. (x, y) goes to (x·cos − y·sin, y·cos + x·sin).": with_angles(
            -place * theta ** (-2 * k / d)
        ),
        "Your speeds are theta ** (-k / d). Pair k of a head turns by theta ** (-2 * k / d).": with_angles(
            place * theta ** (-k / d)
        ),
        "Your speeds fall twice as fast as they should: with arange(0, d, 2) the 2 is already in it.": with_angles(
            place * theta ** (-4 * k / d)
        ),
        "Your speeds grow from pair to pair. They should fall: the exponent is negative.": with_angles(
            place * theta ** (2 * k / d)
        ),
        "You counted the positions from 1. Use them as they come.": with_angles((place + 1) * theta ** (-2 * k / d)),
        "All pairs turn at the same speed: is there a division with //? Pair k has its own speed.": with_angles(
            place.expand(-1, d // 2)
        ),
        "Your speeds belong to theta = 10,000. Use the theta that came.": with_angles(place * 10_000.0 ** (-2 * k / d)),
        "The vectors came back as they were.": vectors,
        "Your numbers are right, but their order is not: first the whole first half, then the second. Use torch.cat, "
        "not torch.stack.": torch.stack([upper, lower], dim=-1).flatten(-2),
        "The second half came back as it was: a rotation changes both numbers of a pair.": torch.cat(
            [upper, second], -1
        ),
        "The first half came back as it was: a rotation changes both numbers of a pair.": torch.cat([first, lower], -1),
        "Your angles are degrees. cos and sin take radians, and so do the speeds.": with_angles(
            torch.deg2rad(place * theta ** (-2 * k / d))
        ),
        "The two halves are swapped.": torch.cat([lower, upper], dim=-1),
        "cos and sin are swapped: with an angle of 0 nothing may change, and cos(0) is 1.": torch.cat(
            [first * sine - second * cosine, second * sine + first * cosine], dim=-1
        ),
        "Both of your products are added. In the first half, second * sine is subtracted.": torch.cat(
            [first * cosine + second * sine, lower], dim=-1
        ),
        "Both of your products are subtracted. In the second half, first * sine is added.": torch.cat(
            [upper, second * cosine - first * sine], dim=-1
        ),
        "You used the new first half to compute the second one. Both come from the old numbers.": torch.cat(
            [upper, second * cosine + upper * sine], dim=-1
        ),
    }
    mistakes |= torn_pairs(vectors, place, theta)
    case.close("the result", result, torch.cat([upper, lower], dim=-1), ANGLES, tolerance=1e-4, mistakes=mistakes)


def torn_pairs(vectors: Tensor, place: Tensor, theta: float) -> dict[str, Tensor]:
    """What mistakes give where each of the d numbers has an angle of its own, [T, d]."""
    d = vectors.size(-1)
    first, second = vectors.chunk(2, dim=-1)

    def with_angles(angles: Tensor) -> Tensor:
        return vectors * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()

    return {
        "The two numbers of a pair get different angles. The halves are k and k + d/2, so the d/2 angles come once for "
        "each half: torch.cat([angles, angles], dim=-1), not repeat_interleave.": with_angles(
            (place * theta ** (-torch.arange(0, d, 2) / d)).repeat_interleave(2, dim=-1)
        ),
        "You made d speeds, so the two numbers of a pair get different angles. There are d/2 pairs.": with_angles(
            place * theta ** (-2 * torch.arange(d) / d)
        ),
    }
