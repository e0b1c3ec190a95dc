"""Exercises of chapter 4: the Transformer encoder. The stack and its dropout: chapter_04_stack.py."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, relu

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.encoder import EncoderLayer

FOR_TENSORS = "math.erf and math.tanh take single numbers. For tensors use torch.erf and torch.tanh."
SMALL = BertConfig(20, 8, 3, 2, 12, max_position_embeddings=8)


@exercise(
    "4.1",
    "The gradient through three layers",
    difficulty=1,
    minutes=5,
    kind="value",
    hints=(
        "Layers in a row multiply their derivatives. What is the derivative of one layer in each case?",
        "Without a residual connection, a layer is 0.5 x; with it, x + 0.5 x. Take the third power of each derivative.",
    ),
)
def way_back(case: Case) -> None:
    """A predicted pair of derivatives."""
    case.predicted(
        [0.125, 3.375],
        otherwise="For both cases, write down what one layer makes of x, and its derivative. Three layers in a row "
        "multiply their derivatives.",
        mistakes=[
            (
                [3.375, 0.125],
                "Both numbers are right, but in the other order: without residual connections comes first.",
            ),
            ([1.5, 4.5], "You added the derivatives of the three layers. The chain rule multiplies them."),
            ([0.5, 1.5], "This is the derivative of one layer. There are three in a row."),
            ([0.125, 1.125], "Your 1.125 has one residual connection around all three layers. Each layer has its own."),
            ([0.125, 2.5], "You added three halves to 1. Is (1 + 0.5)³ equal to 1 + 3 · 0.5?"),
        ],
    )


def tanh_form(x: Tensor, inner: Tensor) -> Tensor:
    """The tanh form of GELU, also with something else inside tanh."""
    return 0.5 * x * (1 + torch.tanh(inner))


@exercise(
    "4.2",
    "GELU, twice",
    difficulty=2,
    minutes=10,
    without=("gelu",),
    hints=(
        "Both forms are x · Φ(x). First write Φ, straight from the two formulas.",
        "Exact: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))). In the tanh form, replace erf(…) by "
        "torch.tanh(math.sqrt(2 / math.pi) * (x + …)).",
    ),
)
def gelu_twice(case: Case) -> None:
    """Both forms of GELU, for large numbers and in float64 too."""
    case.causes = {"only one element": FOR_TENSORS, "must be real number": FOR_TENSORS}
    x = 2 * case.randn(3, 5)
    x[0, 0] = -2.7  # where the two forms differ most, and show it in three digits
    phi, root = 0.5 * (1 + torch.erf(x / math.sqrt(2))), math.sqrt(2 / math.pi)
    bell = x * root / 2 * torch.exp(-x * x / 2)
    fitted = tanh_form(x, root * (x + 0.044715 * x**3))
    case.close(
        "gelu(x)",
        case.call(x, tried="15 numbers"),
        gelu(x),
        "GELU(1) should be 0.8413, GELU(-1) -0.1587 and GELU(0) 0. What does yours return?",
        mistakes={
            "This is Φ(x) alone. GELU is x times Φ(x).": phi,
            "Inside erf, x must be divided by √2.": 0.5 * x * (1 + torch.erf(x)),
            "Inside erf you multiply by √2 where the formula divides.": 0.5 * x * (1 + torch.erf(x * math.sqrt(2))),
            "The division by √2 belongs inside erf: erf(x / √2).": 0.5 * x * (1 + torch.erf(x) / math.sqrt(2)),
            "This is relu. Where is Φ?": relu(x),
            "This is x · sigmoid(x), called SiLU. Φ is computed with erf.": x * torch.sigmoid(x),
            "This is the tanh form. Without tanh=True the function should return the exact form.": fitted,
            "The factor ½ is missing: Φ runs from 0 to 1, but 1 + erf from 0 to 2.": 2 * x * phi,
            "This is x times the height of the bell curve. Φ is the area below it, left of x.": bell,
        },
    )
    right = "The exact form is right. In the tanh form "
    case.close(
        "gelu(x, tanh=True)",
        case.call(x, tried="15 numbers with tanh=True", tanh=True),
        fitted,
        "The exact form is right. Compare your tanh form with the formula, factor by factor.",
        mistakes={
            "This is the exact form again: your function does not use `tanh`.": gelu(x),
            right + "the factor √(2/π) is missing.": tanh_form(x, x + 0.044715 * x**3),
            right + "√(2/π) is upside down.": tanh_form(x, (x + 0.044715 * x**3) / root),
            right + "the cubic term is missing.": tanh_form(x, root * x),
            right + "√(2/π) should multiply the whole bracket.": tanh_form(x, root * x + 0.044715 * x**3),
            right + "x is squared where the formula has the third power.": tanh_form(x, root * (x + 0.044715 * x**2)),
        },
    )
    far = case.call(torch.tensor([-30.0, 30.0]), tried="-30 and 30")
    case.close("gelu(x)", far, torch.tensor([0.0, 30.0]), "For very negative numbers Φ is 0, for very large ones 1.")
    double = case.call(torch.ones(2, dtype=torch.float64), tried="float64")
    case.dtype("the result", double, torch.float64, "Does your code contain a constant of another type?")
    case.gradient_flows(x, names=("x",), tried="15 numbers")
    case.close_with("The two forms differ by at most 0.0005, as the next figure shows.")


def shake(case: Case, module: nn.Module) -> None:
    """Change every weight, so that no two layers are nearly the same and no norm keeps its weight of 1."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.4 * case.randn(*parameter.shape))


def misassembled(x: Tensor, attention: Any, norm_1: Any, feed_forward: Any, norm_2: Any) -> dict[str, Tensor]:
    """What each wrongly assembled layer returns, by the sentence that explains it."""
    summed, no_sum, other = x + attention(x), norm_1(attention(x)), norm_2(x + attention(x))
    update_normed = x + no_sum + norm_2(feed_forward(x + no_sum))
    first, pre, ffn_first = norm_1(summed), x + attention(norm_1(x)), norm_2(x + feed_forward(x))
    one_text = norm_1(x + attention(x)[0])
    return {
        "This is pre-norm: x + sublayer(norm(x)). BERT normalizes after the addition.": pre + feed_forward(norm_2(pre)),
        "Your second addition uses the original x. It should use the result of the first line.": norm_2(
            x + feed_forward(first)
        ),
        "There is no residual connection: each sublayer replaces x. It should add to x.": norm_2(feed_forward(no_sum)),
        "The residual connection around attention is missing.": norm_2(no_sum + feed_forward(no_sum)),
        "The residual connection around the feed-forward network is missing.": norm_2(feed_forward(first)),
        "You normalize each update before it is added. Add first, then normalize the sum.": update_normed,
        "Here attention returns one tensor. With [0] you keep only its first text.": norm_2(
            one_text + feed_forward(one_text)
        ),
        "You use the first norm twice. The second norm has weights of its own.": norm_1(first + feed_forward(first)),
        "The two norms are swapped.": norm_1(other + feed_forward(other)),
        "The attention half is right. What follows it?": first,
        "The last norm is missing.": first + feed_forward(first),
        "The norm between attention and feed-forward is missing.": norm_2(summed + feed_forward(summed)),
        "Your feed-forward network reads the original x. It should read the result of the first line.": norm_2(
            first + feed_forward(x)
        ),
        "In your layer the feed-forward network comes first. Attention should.": norm_1(
            ffn_first + attention(ffn_first)
        ),
    }


@exercise(
    "4.3",
    "The encoder layer",
    difficulty=2,
    minutes=10,
    runs="with package",
    hints=(
        "Use the form norm(x + sublayer(x)) twice. What is x the second time?",
        "The first line is x = attention_norm(x + attention(x)). The second has the same form with the other parts.",
    ),
)
def layer(case: Case) -> None:
    """A layer as one function, compared with the package."""
    whole = EncoderLayer(SMALL).eval()
    shake(case, whole)
    parts = (lambda x: whole.attention(x)[0], whole.attention_norm, whole.feed_forward, whole.feed_forward_norm)
    advice = "Follow the right side of the first figure: attention, add, norm, feed-forward, add, norm."
    for size, tried in (((2, 5, 8), "2 texts of 5 tokens"), ((1, 1, 8), "a single token")):
        x = case.randn(*size)
        result = case.call(x, *parts, tried=tried)
        case.close("the result", result, whole(x)[0], advice, mistakes=misassembled(x, *parts))
    case.refuse_in_place()
    case.expect(
        result.requires_grad, "But the result is detached from its inputs. Do you use `.detach()` or `torch.no_grad()`?"
    )
