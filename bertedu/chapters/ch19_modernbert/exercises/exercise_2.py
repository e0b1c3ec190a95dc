"""Exercise 19.2: The two halves."""

import torch
from torch.nn.functional import gelu, relu, silu

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


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
