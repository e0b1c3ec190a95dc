"""Exercise 3.5: Repair the mask."""

import torch
from torch import Tensor

from bertedu.chapters.ch03_self_attention.exercises.shared import TOO_LARGE
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.attention import attend, padding_bias


@exercise(
    "3.5",
    "Repair the mask",
    difficulty=3,
    minutes=12,
    without=("padding_bias",),
    hints=(
        "Write down the shape of the scores and below it the shape of the bias. Which axis must differ?",
        "The keys lie along the last axis of the scores: [B, T] has to become [B, 1, 1, T].",
    ),
)
def repaired_bias(case: Case) -> None:
    case.causes |= TOO_LARGE
    attention_mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    bias = case.call(attention_mask, torch.float32, tried="2 texts of 5 tokens, the last 2 of the second padding")
    case.is_a("the bias", bias, Tensor, "a tensor")
    if bias.dtype == torch.bool:
        case.fail(
            "But the bias is boolean. It is added to the scores: 0 for a visible key, a very negative number for a "
            "hidden one."
        )
    size = list(bias.shape)
    if size == [2, 1, 5, 1]:
        case.fail(
            "But the bias is still [2, 1, 5, 1]: it adds one number to a whole row of scores, so it hides no key.",
            "Which axis of the scores [B, H, T, T] holds the keys?",
        )
    if size == [2, 5]:
        case.fail("But the bias is [2, 5], and the scores have four axes, [B, H, T, T]. Insert axes with None.")
    query, key, value = (case.randn(2, 3, 5, 4) for _ in range(3))
    try:
        fits = torch.broadcast_shapes(size, (2, 3, 5, 5)) == (2, 3, 5, 5)
    except RuntimeError:
        fits = False
    if not fits:
        case.fail(
            f"But the bias is {size}, which cannot be added to scores of [2, 3, 5, 5], that is [B, H, T, T].",
            "The last T are the keys, which you want to hide, and the T before it the queries.",
        )
    weights = attend(query, key, value, bias.float())[1]
    if bool(weights.isnan().any()):
        case.fail("But adding it makes the weights nan: is a whole row hidden, or a number multiplied by infinity?")
    of_text = weights[1, :, :3]  # the rows of padding do not matter
    on_text, on_padding = of_text[..., :3].sum(-1).max(), of_text[..., 3:].sum(-1).max()
    if on_text < 1e-3 and on_padding > 0.99:
        case.fail("But with it all attention goes to padding: the mask is inverted.")
    if on_padding > 0:
        case.fail(f"But a token still gives {on_padding:.2g} of its attention to padding, and should give none.")
    case.close("the weights of the text without padding", weights[0], attend(query, key, value)[1][0])
    never = attend(query[1:, :, :3], key[1:, :, :3], value[1:, :, :3])[1]
    case.close(
        "weights",
        weights[1:, :, :3, :3],
        never,
        "A padded and masked text should give the same weights as the text alone.",
    )
    edges(case, query, key, value)
    large_scores(case)


def large_scores(case: Case) -> None:
    """Scores of ±20000: -10000 does not hide a key there."""
    bias = case.call(torch.tensor([[1, 1, 0]]), torch.float32, tried="scores of ±20000")
    scores = torch.tensor([-20000.0, -20001.0, 20000.0]).expand(1, 1, 3, 3)
    on_padding = (scores + bias).softmax(-1)[:, :, :2, 2].max()
    if on_padding > 0:
        case.almost(
            f"With scores as large as ±20000 padding gets {on_padding:.0%} of the attention: "
            f"{bias.min():.4g} is not negative enough.",
            "What is the smallest number of the dtype, and how much of it is safe?",
        )


def edges(case: Case, query: Tensor, key: Tensor, value: Tensor) -> None:
    """Texts that are all padding, in both dtypes; a batch of one."""
    nothing = torch.zeros(2, 5, dtype=torch.long)
    for dtype in (torch.float32, torch.float16):
        name = str(dtype).removeprefix("torch.")
        bias = case.call(nothing, dtype, tried=f"texts that are all padding, in {name}")
        case.dtype("the bias", bias, dtype, "The second input says which dtype the scores have.")
        scores = (query @ key.mT).to(dtype) - 20
        if not bool((scores + bias).softmax(-1).isfinite().all()):
            case.almost(
                f"Padding is hidden, but a text that is all padding gives nan in {name}.",
                'Bias plus score must stay finite: see the section "How negative is "very negative"?"',
            )
    bias = case.call(torch.tensor([[1, 0]]), torch.float32, tried="a batch of one")
    expected = padding_bias(torch.tensor([[1, 0]]), torch.float32)
    zeros = torch.zeros(1, 1, 2, 2)
    case.close("softmax(0 + bias)", (zeros + bias).softmax(-1)[:, :, :1], (zeros + expected).softmax(-1)[:, :, :1])
