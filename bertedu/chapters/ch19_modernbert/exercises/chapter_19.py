"""Exercises 19.1 to 19.3: rotary positions, GeGLU and the window. The others are in chapter_19_packing.py."""

import torch
from torch import Tensor
from torch.nn.functional import gelu, relu, silu

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise
from bertedu.family.modernbert.rope import rotate, rotation

ANGLES = "The angles are positions[:, None] * speeds, [T, d/2]: one row for each position, one column for each pair."


def neighbors(vectors: Tensor, angles: Tensor) -> Tensor:
    """The other convention: the numbers 2k and 2k + 1 are a pair."""
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    cosine, sine = angles.cos(), angles.sin()
    return torch.stack([first * cosine - second * sine, second * cosine + first * sine], dim=-1).flatten(-2)


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


@exercise(
    "19.2",
    "The two halves",
    difficulty=2,
    minutes=8,
    hints=(
        "One product gives 2 I numbers for each token. Cut it in the middle of the last axis.",
        "activated, gate = (x @ expand.T).chunk(2, dim=-1). Which of them goes through gelu?",
    ),
)
def geglu(case: Case) -> None:
    advice = (
        "Check three things: nn.Linear stores its weight as [outputs, inputs], so multiply by the transposed matrix; "
        "cut the last axis, with dim=-1; and the halves have I = shrink.size(1) numbers each."
    )
    case.causes |= dict.fromkeys(("mat1 and mat2", "cannot be multiplied", "size of tensor", "Expected size"), advice)
    case.causes["not enough values to unpack"] = "chunk(2, dim=-1) cuts the last axis into two halves."
    x, expand, shrink = 2 * case.randn(2, 5, 6), case.randn(16, 6), case.randn(6, 8)
    result = case.call(x, expand, shrink, tried="x [2, 5, 6], expand [16, 6], shrink [6, 8]")
    case.same_shape("the result", result, x, "8 inner numbers go back to 6 with shrink.")
    a, g = (x @ expand.T).chunk(2, dim=-1)
    even, odd = (x @ expand.T)[..., 0::2], (x @ expand.T)[..., 1::2]
    if is_close(result, (gelu(a, approximate="tanh") * g) @ shrink.T):
        case.almost("This is the tanh form of GELU. ModernBERT uses the exact one, gelu(z).")
    inner = {
        "The halves are swapped: you put the second one through GELU. In ModernBERT it is the first one.": a * gelu(g),
        "Both halves go through GELU. One of them is multiplied as it is.": gelu(a) * gelu(g),
        "The second half is missing: this is BERT's feed-forward with half of the matrix.": gelu(a),
        "You applied GELU to the product. It belongs on the first half alone, before you multiply.": gelu(a * g),
        "You added the halves. The gate multiplies.": gelu(a) + g,
        "The first half goes through GELU, not the second one through a sigmoid.": a * g.sigmoid(),
        "There is no GELU: without an activation this is the bilinear variant of Shazeer's paper.": a * g,
        "This is GLU with a sigmoid. GeGLU has GELU there.": a.sigmoid() * g,
        "This is ReGLU: relu in place of GELU.": relu(a) * g,
        "This is SwiGLU: SiLU (swish) in place of GELU.": silu(a) * g,
        "You took every second number. The first half is numbers 0 to I − 1.": gelu(even) * odd,
        "You cut the sequence of tokens, not the inner numbers.": torch.zeros_like(a),
    }
    mistakes = {sentence: numbers @ shrink.T for sentence, numbers in inner.items()}
    mistakes["GELU belongs on the first half, before the gate. You applied it to the end result."] = gelu(
        (a * g) @ shrink.T
    )
    mistakes["You shrink both halves, and multiply afterwards. Multiply the inner numbers, then shrink once."] = (
        gelu(a) @ shrink.T
    ) * (g @ shrink.T)
    mistakes["There is no product with shrink that fits: is it transposed?"] = torch.zeros_like(x)
    advice = "gelu of the first half, times the second half, entry by entry; then shrink."
    case.close("the result", result, (gelu(a) * g) @ shrink.T, advice, tolerance=1e-4, mistakes=mistakes)
    square = [case.randn(1, 1, 4), case.randn(8, 4), case.randn(4, 4)]
    result = case.call(*square, tried="I = D = 4, and one token")
    a, g = (square[0] @ square[1].T).chunk(2, dim=-1)
    turned = {"Here shrink is square, and you didn't transpose it.": (gelu(a) * g) @ square[2]}
    case.close("the result", result, (gelu(a) * g) @ square[2].T, tolerance=1e-4, mistakes=turned)
    case.gradient_flows(x, expand, shrink, names=("x", "expand", "shrink"), tried="x [2, 5, 6]")


@exercise(
    "19.3",
    "At the border",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "How far is the farthest token that token 4000 attends to, on each side? That token is seen too.",
        "64 on the left, 64 on the right, and the token itself. What is missing at the beginning of the text?",
    ),
)
def at_the_border(case: Case) -> None:
    case.predicted(
        [65, 75, 129],
        otherwise="Count three groups for each token: at most 64 on its left, itself, at most 64 on its right.",
        mistakes=[
            ([64, 74, 128], "A token attends to itself as well."),
            ([64, 74, 129], "Token 0 attends to itself as well, and so does token 10."),
            ([65, 76, 129], "Token 10 has the tokens 0 to 9 on its left. How many are these?"),
            ([64, 75, 129], "Token 0 attends to itself as well."),
            ([65, 74, 128], "Token 10 has the tokens 0 to 9 on its left, and token 4000 attends to itself as well."),
            ([66, 76, 130], "One too many: a token counts itself once, and at most 64 on each side."),
            ([65, 75, 65], "Token 4000 has neighbors on both sides."),
            ([64, 64, 128], "A token attends to itself as well, and token 10 has ten tokens on its left."),
            ([65, 75, 128], "You counted 128 for token 4000: that is 64 to each side. And itself?"),
            ([65, 74, 129], "Token 10 has the tokens 0 to 9 on its left. How many are these?"),
            ([65, 65, 129], "Token 10 has some tokens on its left, too."),
            ([64, 74, 127], "The border is inclusive: a token that is exactly 64 positions away is still seen."),
            ([129, 129, 129], "There are no tokens before token 0."),
            (
                [128, 128, 128],
                "There are no tokens before token 0. And a window of 128 is 64 to each side and the token.",
            ),
            ([129, 139, 257], "128 is the whole window: at most 64 positions away on each side."),
            ([33, 43, 65], "At most 64 away on *each* side: 128 is divided once."),
            ([1, 11, 65], "That is a decoder, which attends to the left only. BERT attends to both sides."),
            ([1, 11, 129], "Tokens 0 and 10 have 64 neighbors on their right, as token 4000 has."),
            ([8192, 8192, 8192], "That is a global layer. This one is local."),
        ],
    )
