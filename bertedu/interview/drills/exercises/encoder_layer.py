"""Whiteboard drill: the encoder layer, with post-norm and with pre-norm."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn.functional import gelu, layer_norm, relu

from bertedu.course.case import Case
from bertedu.interview.drills.drill import Drill

TASK = """
Write `encoder_layer(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm)`: one layer of a Transformer encoder,
without dropout.

    x                [B, T, D]
    attention        a function [B, T, D] -> [B, T, D], output projection included
    w_1, b_1         [D, 4D], [4D]   the feed-forward network is gelu(y @ w_1 + b_1) @ w_2 + b_2
    w_2, b_2         [4D, D], [D]
    norm_1, norm_2   functions [B, T, D] -> [B, T, D]: the LayerNorm of the attention and of the feed-forward half
    pre_norm         False: post-norm, as in BERT. True: pre-norm, as in GPT-2 and ModernBERT

Return the output [B, T, D] (with pre_norm, before the last norm that such an encoder has after all of its layers).
Both halves have a residual connection.

Allowed: torch.nn.functional.gelu.
"""

STUB = """
from torch.nn.functional import gelu


def encoder_layer(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    raise NotImplementedError
"""

SOLUTION = """
from torch.nn.functional import gelu


def encoder_layer(x, attention, w_1, b_1, w_2, b_2, norm_1, norm_2, pre_norm):
    def feed_forward(y):
        return gelu(y @ w_1 + b_1) @ w_2 + b_2

    if pre_norm:
        x = x + attention(norm_1(x))
        return x + feed_forward(norm_2(x))
    x = norm_1(x + attention(x))
    return norm_2(x + feed_forward(x))
"""

Half = Callable[[Tensor], Tensor]


def parts(case: Case, size: int) -> dict[str, Any]:
    """Attention, weights and norms, whose numbers tell every mistake apart. The attention mixes tokens."""
    mix, value = case.randn(size, size), case.randn(size, size)
    scales = [(1 + 0.3 * case.randn(size), 0.3 * case.randn(size)) for _ in range(2)]

    def attention(x: Tensor) -> Tensor:
        return (x @ mix @ x.mT).softmax(-1) @ x @ value

    def norm_1(x: Tensor) -> Tensor:
        return layer_norm(x, [size], *scales[0])

    def norm_2(x: Tensor) -> Tensor:
        return layer_norm(x, [size], *scales[1])

    return {
        "attention": attention,
        "w_1": case.randn(size, 4 * size) / 2,
        "b_1": case.randn(4 * size),
        "w_2": case.randn(4 * size, size) / 2,
        "b_2": case.randn(size),
        "norm_1": norm_1,
        "norm_2": norm_2,
    }


def feed_forward_of(given: dict[str, Any], activation: Half = gelu) -> Half:
    """The second half as a function."""
    return lambda y: activation(y @ given["w_1"] + given["b_1"]) @ given["w_2"] + given["b_2"]


def post(x: Tensor, attention: Half, feed_forward: Half, norm_1: Half, norm_2: Half) -> Tensor:
    """Post-norm: BERT's."""
    x = norm_1(x + attention(x))
    return norm_2(x + feed_forward(x))


def pre(x: Tensor, attention: Half, feed_forward: Half, norm_1: Half, norm_2: Half) -> Tensor:
    """Pre-norm."""
    x = x + attention(norm_1(x))
    return x + feed_forward(norm_2(x))


def examine(case: Case) -> None:
    """Post-norm, then pre-norm, a single token, and gradients of the weights."""
    case.causes = {"cannot be multiplied": "The weights are used as `y @ w`: [D, 4D] widens, [4D, D] narrows again."}
    given = parts(case, 6)
    x = case.randn(2, 5, 6)
    for pre_norm, rule, name in ((False, post, "post-norm"), (True, pre, "pre-norm")):
        halves = given["attention"], feed_forward_of(given), given["norm_1"], given["norm_2"]
        got = case.call(x, *given.values(), pre_norm, tried=f"2 texts of 5 tokens with {name}")
        advice = "Draw it: where does the residual connection leave, where does it return, and where is the norm?"
        wrong = for_both(x, given, rule, *halves) | (for_post(x, *halves) if not pre_norm else for_pre(x, *halves))
        case.close("the output", got, rule(x, *halves), advice, mistakes=wrong, tolerance=1e-4)
        one = case.randn(1, 1, 6)
        got = case.call(one, *given.values(), pre_norm, tried=f"a single token with {name}")
        case.close("the output", got, rule(one, *halves), "It was right for 2 texts of 5 tokens.", tolerance=1e-4)
    gradients(case, x, given)


def gradients(case: Case, x: Tensor, given: dict[str, Any]) -> None:
    """A gradient for x and for the four weights of the feed-forward network."""
    own, attention, norms = case.answer, given["attention"], (given["norm_1"], given["norm_2"])
    case.answer = lambda y, *weights: own(y, attention, *weights, *norms, False)
    names = ("w_1", "b_1", "w_2", "b_2")
    case.gradient_flows(x, *(given[name] for name in names), names=("x", *names), tried="2 texts of 5 tokens")
    case.answer = own


def for_both(x: Tensor, given: dict[str, Any], rule: Callable, *halves: Half) -> dict[str, Tensor]:
    """What mistakes give that are possible with both."""
    attention, feed_forward, norm_1, norm_2 = halves
    w_1, b_1, w_2, b_2 = (given[name] for name in ("w_1", "b_1", "w_2", "b_2"))
    return {
        "The two norms are swapped.": rule(x, attention, feed_forward, norm_2, norm_1),
        "You use norm_1 twice. The second norm has weights of its own.": rule(
            x, attention, feed_forward, norm_1, norm_1
        ),
        "The activation is ReLU. BERT's is GELU.": rule(x, attention, feed_forward_of(given, relu), norm_1, norm_2),
        "This is the tanh form of GELU. The task gives the exact one.": (
            rule(x, attention, feed_forward_of(given, lambda y: gelu(y, approximate="tanh")), norm_1, norm_2)
        ),
        "There is no activation between the two matrices, so they are one.": (
            rule(x, attention, feed_forward_of(given, lambda y: y), norm_1, norm_2)
        ),
        "b_1 is missing.": rule(x, attention, lambda y: gelu(y @ w_1) @ w_2 + b_2, norm_1, norm_2),
        "b_2 is missing.": rule(x, attention, lambda y: gelu(y @ w_1 + b_1) @ w_2, norm_1, norm_2),
        "The biases are missing.": rule(x, attention, lambda y: gelu(y @ w_1) @ w_2, norm_1, norm_2),
        "There is an activation after the second matrix too.": (
            rule(x, attention, lambda y: gelu(feed_forward(y)), norm_1, norm_2)
        ),
        "The feed-forward half comes first. Attention should.": rule(x, feed_forward, attention, norm_2, norm_1),
        "The feed-forward half comes first. Attention should, with norm_1.": rule(
            x, feed_forward, attention, norm_1, norm_2
        ),
        "The attention half is right. The feed-forward half is missing.": (
            norm_1(x + attention(x)) if rule is post else x + attention(norm_1(x))
        ),
    }


def for_post(x: Tensor, attention: Half, feed_forward: Half, norm_1: Half, norm_2: Half) -> dict[str, Tensor]:
    """What mistakes give where post-norm is asked for."""
    first, bare = norm_1(x + attention(x)), norm_1(attention(x))
    return {
        "This is pre-norm. With pre_norm=False the norm comes after the addition, as in BERT.": (
            pre(x, attention, feed_forward, norm_1, norm_2)
        ),
        "The second residual connection adds the original x. It should add the result of the first half.": (
            norm_2(x + feed_forward(first))
        ),
        "There is no residual connection: each half should add to its input.": norm_2(feed_forward(bare)),
        "The residual connection around attention is missing.": norm_2(bare + feed_forward(bare)),
        "The residual connection around the feed-forward network is missing.": norm_2(feed_forward(first)),
        "You normalize each update and then add. In post-norm the sum is normalized.": (
            x + bare + norm_2(feed_forward(x + bare))
        ),
        "The last norm is missing: post-norm ends with norm_2.": first + feed_forward(first),
        "The norm after the attention half is missing.": norm_2(x + attention(x) + feed_forward(x + attention(x))),
        "Both halves read the original x. The feed-forward half reads the result of the first.": (
            norm_2(first + feed_forward(x))
        ),
    }


def for_pre(x: Tensor, attention: Half, feed_forward: Half, norm_1: Half, norm_2: Half) -> dict[str, Tensor]:
    """What mistakes give where pre-norm is asked for."""
    first, normal = x + attention(norm_1(x)), norm_1(x)
    after = normal + attention(normal)
    return {
        "This is post-norm: you do not use `pre_norm`, or the wrong way round.": (
            post(x, attention, feed_forward, norm_1, norm_2)
        ),
        "The residual connection starts after the norm. In pre-norm it carries x itself, past the norm.": (
            norm_2(after) + feed_forward(norm_2(after))
        ),
        "There is one norm too many: no norm comes after the last addition of a pre-norm layer.": (
            norm_2(first + feed_forward(first))
        ),
        "There is one norm too many: the output of a pre-norm layer is not normalized.": (
            norm_2(first + feed_forward(norm_2(first)))
        ),
        "The second norm is missing: the feed-forward half reads norm_2 of its input.": first + feed_forward(first),
        "The first norm is missing: attention reads norm_1 of its input.": (
            x + attention(x) + feed_forward(norm_2(x + attention(x)))
        ),
        "You normalize what each half returns. In pre-norm each half reads what is normalized.": (
            x + norm_1(attention(x)) + norm_2(feed_forward(x + norm_1(attention(x))))
        ),
        "The second residual connection adds the original x. It should add the result of the first half.": (
            x + feed_forward(norm_2(first))
        ),
        "Both halves read x, side by side. The feed-forward half reads the result of the first.": (
            first + feed_forward(norm_2(x))
        ),
    }


DRILL = Drill(
    name="encoder-layer",
    title="The encoder layer: post-norm and pre-norm",
    minutes=12,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="04",
    section="Post-norm and pre-norm",
    hints=(
        "Write each kind as two lines. Post-norm is norm(x + half(x)); where does the norm go in pre-norm?",
        "Pre-norm is x + half(norm(x)), twice. The residual connection carries x past the norm, and nothing follows.",
    ),
    examine=examine,
    without=("TransformerEncoderLayer",),
)
