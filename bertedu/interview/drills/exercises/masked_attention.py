"""Whiteboard drill: masked multi-head attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.interview.drills.drill import Drill

TASK = """
Write `attention(x, w_q, w_k, w_v, w_o, num_heads, mask)`: multi-head self-attention with a padding mask, without biases
and without dropout.

    x            [B, T, D]   the vectors of the tokens
    w_q … w_o    [D, D]      the four projections, each used as `x @ w`
    num_heads    an int H; D is a multiple of it, and head h takes the entries h·D/H to (h+1)·D/H
    mask         [B, T]      1 for a real token, 0 for padding

Return the output [B, T, D]. No real token may attend to padding; each text has at least one real token. What comes out
at the padded positions does not matter, but it has to be finite. float16 has to work as well as float32.

Allowed: tensor operations. Not allowed: nn.MultiheadAttention and scaled_dot_product_attention.
"""

STUB = """
import torch


def attention(x, w_q, w_k, w_v, w_o, num_heads, mask):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def attention(x, w_q, w_k, w_v, w_o, num_heads, mask):
    B, T, D = x.shape
    d = D // num_heads

    def split(y):  # [B, T, D] -> [B, H, T, d]
        return y.view(B, T, num_heads, d).transpose(1, 2)

    query, key, value = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    scores = query @ key.transpose(-2, -1) / d**0.5  # [B, H, T, T]
    hidden = mask[:, None, None, :] == 0  # the keys that are padding
    weights = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return (weights @ value).transpose(1, 2).reshape(B, T, D) @ w_o
"""

HIDDEN = -1e30
HEADS, MASK = 3, torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
NAMES = ("x", "w_q", "w_k", "w_v", "w_o")


def examine(case: Case) -> None:
    """Numbers without padding first, then with it; then other sizes, long padding, float16 and the gradient."""
    case.causes = {
        "expected scalar type": "A part became float32 on the way: has the mask the dtype of the scores?",
        "view size is not compatible": "After transpose the numbers no longer lie in their order: use reshape.",
        "without overflow": "The number that hides a key does not fit into the dtype. What does torch.finfo offer?",
        "is invalid for input of size": "Cut D into [H, D/H], then swap H and T; undo both in the other order.",
    }
    x, w = case.randn(2, 5, 12), [0.6 * case.randn(12, 12) for _ in range(4)]
    everything = torch.ones_like(MASK)
    got = case.call(x, *w, HEADS, everything, tried="2 texts of 5 tokens without padding, with 3 heads")
    if isinstance(got, tuple | list):
        case.fail(f"But it returned {len(got)} things, and the task asks for the output only.")
    case.same_shape("the output", got, x)
    advice = "Compare with the formula, line by line: heads, scores, softmax, values, w_o."
    right = output(x, w, HEADS, visible(everything))
    case.close("the output", got, right, advice, mistakes=without_padding(x, w), tolerance=1e-4)
    padded(case, x, w)
    other_sizes(case)
    half_precision(case, x, w)
    own = case.answer
    case.answer = lambda *tensors: own(*tensors, HEADS, MASK.clone())
    case.gradient_flows(x, *w, names=NAMES, tried="2 texts of 5 tokens")
    case.answer = own


def split(x: Tensor, heads: int) -> Tensor:
    """[B, T, D] to [B, H, T, d]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge(x: Tensor) -> Tensor:
    """[B, H, T, d] to [B, T, D]."""
    return x.transpose(1, 2).flatten(-2)


def visible(mask: Tensor) -> Callable[[Tensor, int], Tensor]:
    """Scores [B, H, T, T] of heads of size d to weights, without the padding."""
    return lambda scores, d: (scores / d**0.5).masked_fill(mask[:, None, None, :] == 0, HIDDEN).softmax(-1)


def output(
    x: Tensor,
    w: list[Tensor],
    heads: int,
    weigh: Callable[[Tensor, int], Tensor],
    cut: Callable[[Tensor, int], Tensor] = split,
    join: Callable[[Tensor], Tensor] = merge,
) -> Tensor:
    """What attention returns if it makes weights of scores, and heads of vectors, in this way."""
    query, key, value = (cut(x @ one, heads) for one in w[:3])
    return join(weigh(query @ key.mT, query.size(-1)) @ value) @ w[3]


def without_padding(x: Tensor, w: list[Tensor]) -> dict[str, Tensor]:
    """What known mistakes give where nothing is hidden."""
    right = visible(torch.ones_like(MASK))
    w_q, w_k, w_v, w_o = w
    one = torch.eye(12)

    def weighed(weigh: Callable[[Tensor, int], Tensor]) -> Tensor:
        return output(x, w, HEADS, weigh)

    def cut_wrongly(y: Tensor, heads: int) -> Tensor:
        return y.reshape(len(y), heads, y.size(1), -1)

    return {
        "The scores are not divided by √d: the weights are closer to 0 and 1 than they should be.": weighed(
            lambda scores, d: scores.softmax(-1)
        ),
        "You divide by √D. The query of one head has d = D/H entries: divide by √d.": weighed(
            lambda scores, d: (scores / 12**0.5).softmax(-1)
        ),
        "You divide by d. The standard deviation of a score grows with √d: divide by that.": weighed(
            lambda scores, d: (scores / d).softmax(-1)
        ),
        "Softmax runs over the queries. Along which axis are the keys that one query chooses from?": weighed(
            lambda scores, d: (scores / d**0.5).softmax(-2)
        ),
        "Softmax runs over the heads. Each head should have weights of its own.": weighed(
            lambda scores, d: (scores / d**0.5).softmax(1)
        ),
        "There is no softmax: a row of weights should sum to 1.": weighed(lambda scores, d: scores / d**0.5),
        "The heads are joined in the wrong order: swap H and T back before you join H and d.": (
            output(x, w, HEADS, right, join=lambda y: y.reshape(x.shape))
        ),
        "`[B, H, T, d]` by view or reshape alone mixes the tokens: cut D into [H, d] first, then swap H and T.": (
            output(x, w, HEADS, right, cut=cut_wrongly)
        ),
        "`[B, H, T, d]` by view or reshape alone mixes the tokens: cut D into [H, d], then swap.": (
            output(x, w, HEADS, right, cut=cut_wrongly, join=lambda y: y.reshape(x.shape))
        ),
        "A head takes neighbouring entries: cut D into [H, d], not into [d, H].": (
            output(x, w, HEADS, right, cut=lambda y, heads: y.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2))
        ),
        "This is one head of size D. Cut the vectors into H heads.": output(x, w, 1, right),
        "w_o is missing: the joined heads go through one more projection.": output(
            x, [w_q, w_k, w_v, one], HEADS, right
        ),
        "You mix x itself: the values are x @ w_v.": output(x, [w_q, w_k, one, w_o], HEADS, right),
        "You mix the keys: the weights should average the values.": output(x, [w_q, w_k, w_k, w_o], HEADS, right),
        "Query and key are swapped: row i of the scores belongs to query i.": output(
            x, [w_k, w_q, w_v, w_o], HEADS, right
        ),
        "Each weight is used as `x @ w`. nn.Linear is what transposes its weight.": (
            output(x, [each.mT for each in w], HEADS, right)
        ),
    }


def padded(case: Case, x: Tensor, w: list[Tensor]) -> None:
    """Two texts of which one has padding: compared at the real tokens."""
    real, keys = MASK.bool(), MASK[:, None, None, :] == 0
    got = case.call(x, *w, HEADS, MASK, tried="2 texts of 5 tokens, the last two of the first one padding")
    case.same_shape("the output", got, x)
    if bool(got[real].isfinite().all()) and not bool(got.isfinite().all()):
        case.fail(
            "But at padded positions the output is nan or infinite, and that reaches every token in the next layer.",
            "Do you hide whole rows of the scores, the queries of padding? Hide the keys only.",
        )
    case.expect(got.isfinite().all(), "But the output is nan or infinite, although every text has real tokens.")

    queries_hidden = output(x, w, HEADS, lambda scores, d: (scores / d**0.5).masked_fill(keys.mT, HIDDEN).softmax(-1))
    if is_close(got, queries_hidden, 1e-4):  # at the real tokens the same as without a mask
        case.fail("But you hide the queries of padding. Hide its keys: they lie along the last axis of the scores.")

    def weighed(weigh: Callable[[Tensor], Tensor]) -> Tensor:
        return output(x, w, HEADS, lambda scores, d: weigh(scores / d**0.5))[real]

    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    mistakes = {
        "Padding is attended to: these are the numbers without a mask. masked_fill returns a new tensor.": (
            weighed(lambda scores: scores.softmax(-1))
        ),
        "The mask is inverted: you hide the real tokens.": (
            weighed(lambda scores: scores.masked_fill(~keys, HIDDEN).softmax(-1))
        ),
        "The mask itself is added to the scores. That hides nothing: 0 has to become a very negative number.": (
            weighed(lambda scores: (scores + MASK[:, None, None, :]).softmax(-1))
        ),
        "Padding is removed after the softmax, so the rows of weights no longer sum to 1. Hide scores before it.": (
            weighed(lambda scores: scores.softmax(-1) * ~keys)
        ),
        "The hidden scores are 0, and e to the 0 is 1: padding still gets attention. Use a very negative number.": (
            weighed(lambda scores: (scores * ~keys).softmax(-1))
        ),
        "A causal mask hides the later tokens too. BERT attends in both directions: hide padding only.": (
            weighed(lambda scores: scores.masked_fill(keys | later, HIDDEN).softmax(-1))
        ),
    }
    right = output(x, w, HEADS, visible(MASK))[real]
    advice = "Without padding it was right. Which scores does the mask hide?"
    case.close("the output at the real tokens", got[real], right, advice, mistakes=mistakes, tolerance=1e-4)


def other_sizes(case: Case) -> None:
    """A single token; padding in front; one head; masks of booleans."""
    for batch, length, heads, size in ((1, 1, 2, 4), (3, 4, 1, 6), (2, 6, 4, 8)):
        x, w = case.randn(batch, length, size), [case.randn(size, size) for _ in range(4)]
        mask = (torch.arange(length) >= torch.arange(batch)[:, None]).long()  # padding in front of the later texts
        tried = f"a batch of {batch}, {length} tokens, {heads} heads of {size // heads}, padding in front"
        got = case.call(x, *w, heads, mask, tried=tried)
        right = output(x, w, heads, visible(mask))
        case.same_shape("the output", got, right)
        advice = "It was right for 2 texts with 3 heads of 4. What should depend on the shapes?"
        case.close("the output", got[mask.bool()], right[mask.bool()], advice, tolerance=1e-4)


def half_precision(case: Case, x: Tensor, w: list[Tensor]) -> None:
    """In float16, -1e9 is no number that hides a key."""
    half = [each.half() for each in (x, *w)]
    got = case.call(*half, HEADS, MASK, tried="float16")
    case.dtype("the output", got, torch.float16, "Does the mask become float32 on the way?")
    finite = got[MASK.bool()].isfinite().all()
    case.expect(finite, "But the output is nan or infinite. Which is the smallest number of float16?")
    right = output(x, w, HEADS, visible(MASK))[MASK.bool()]
    case.close("the output", got[MASK.bool()].float(), right, "In float32 it was right.", tolerance=0.05)


DRILL = Drill(
    name="masked-attention",
    title="Masked multi-head attention",
    minutes=15,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="03",
    section="The whole class",
    hints=(
        "Cut D into [H, d] and swap H and T; divide the scores by √d; hide the keys of padding; mix, swap back, join.",
        "mask[:, None, None, :] == 0 are the keys to hide: `scores.masked_fill(…, torch.finfo(scores.dtype).min)` "
        "before the softmax over the last axis.",
    ),
    examine=examine,
    without=("scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward"),
)
