"""Exercises 25.1, 25.2, 25.4, 25.5: parameters, memory, machines, a perplexity. 25.3 is in chapter_25_gradient.py."""

import math
from collections.abc import Sequence

import torch

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

BASE = (30_522, 512, 768, 3_072, 12)
TINY = (1_000, 64, 16, 40, 3)  # a feed-forward that is not 4·D


def whole(case: Case, got: object, name: str) -> int:
    """The result as a whole number; not yet for anything else."""
    case.is_a(name, got, int | float, "a number")
    if isinstance(got, bool) or got != int(got):  # type: ignore[call-overload]
        case.fail(f"But {name} is {got}, and it should be a whole number.")
    return int(got)  # type: ignore[call-overload]


def parts(V: int, P: int, D: int, inner: int, L: int) -> dict[str, int]:
    """The parameters of BertModel by part."""
    return {
        "tables": (V + P + 2) * D,
        "norm": 2 * D,
        "attention": L * 4 * (D * D + D),
        "feed_forward": L * (2 * D * inner + inner + D),
        "norms": L * 4 * D,
        "pooler": D * D + D,
    }


@exercise(
    "25.1",
    "Every parameter",
    difficulty=2,
    minutes=10,
    hints=(
        "Go through the model from the bottom: three embedding tables and a LayerNorm; L layers; the pooler. A linear "
        "layer from n to m has n·m + m parameters, a LayerNorm 2·D.",
        "A layer: 4·(D·D + D) for attention, D·F + F + F·D + D for the feed-forward, 2·2·D for its two LayerNorms.",
    ),
)
def parameters(case: Case) -> None:
    """BERT-Base, then a small model whose feed-forward is not four times as wide."""
    for sizes, tried in ((BASE, "the sizes of BERT-Base"), (TINY, "a tiny model with a feed-forward of 40")):
        got = whole(case, case.call(*sizes, tried=tried), "the result")
        V, P, D, inner, L = sizes
        part = parts(*sizes)
        right = sum(part.values())
        if got == right:
            continue
        without_biases = right - (D + L * (4 * D + inner + D))
        mistakes = [
            (12 * D * D * L + V * D, "That is the estimate, 12·D²·L + V·D. Here every parameter counts."),
            (right - part["pooler"], "The pooler is missing: a linear layer from D to D, with its bias."),
            (
                right - part["norms"],
                "The LayerNorms of the layers are missing: two in each, 2·D parameters a LayerNorm.",
            ),
            (
                right - part["norms"] // 2,
                "One LayerNorm a layer is missing: after attention and after the feed-forward.",
            ),
            (right - part["norm"], "The LayerNorm of the embeddings is missing: 2·D."),
            (right - part["norm"] - part["norms"], "All LayerNorms are missing: 2·D each, one in the embeddings."),
            (right + 2 * D, "There are 2·D too many. Is there a LayerNorm after the last layer? BERT is post-norm."),
            (without_biases, "The biases are missing: every linear layer has as many as it has outputs."),
            (right - 2 * D, "2·D are missing: the two segments, or the LayerNorm of the embeddings."),
            (right - P * D, "The position embeddings are missing: P·D."),
            (right - V * D, "The token embeddings are missing: V·D, the largest table."),
            (right + V * D, "V·D too many: the encoder has one table. The head of pre-training uses the same one."),
            (right + V, "V too many: that is the bias of the head of pre-training, and it is no part of the encoder."),
            (right - L * D * D - L * D, "One matrix a layer is missing: attention has query, key, value and output."),
            (right - L * D, "D a layer are missing: is it the second bias of the feed-forward?"),
            (right - L * inner, "F a layer are missing: the first bias of the feed-forward has F numbers."),
            (right + L * (4 * D - inner) * (2 * D + 1), "Use F for the feed-forward. Here it is not 4·D."),
        ]
        known = [sentence for wrong, sentence in mistakes if got == wrong]
        difference = f"It is {abs(got - right):,} too {'many' if got > right else 'few'}; D is {D:,}, D·D {D * D:,}."
        case.fail(f"But it returned {got:,}.", *(known[:1] or [difference]))
    case.close_with("Aloud, 12·D² a layer and V·D are enough: they give 108 of 109 million.")


def wrong_number(case: Case, got: float, right: float, mistakes: Sequence[tuple[float, str]], otherwise: str) -> None:
    """Not yet, unless a number is right; a known mistake hears its own sentence."""
    if not math.isclose(got, right, rel_tol=1e-4):
        known = [sentence for wrong, sentence in mistakes if math.isclose(got, wrong, rel_tol=1e-4)]
        case.fail(f"But it returned {got:.4g}.", *(known[:1] or [otherwise]))


def number(case: Case, got: object) -> float:
    """The result as a float; not yet for what is no number."""
    if isinstance(got, torch.Tensor) and got.numel() == 1:
        return got.item()
    case.is_a("the result", got, int | float, "a number")
    return float(got)  # type: ignore[arg-type]


@exercise(
    "25.2",
    "Does it fit?",
    difficulty=2,
    minutes=8,
    hints=(
        "Every weight takes 4 bytes. Every trained one takes 4 more for its gradient and 2·4 for the moments of AdamW.",
        "(4·parameters + 12·trained + 2·parameters if mixed) / 1e9",
    ),
)
def training_gigabytes(case: Case) -> None:
    """All trained, then a frozen model with a head, then mixed precision."""
    base, head = 109_482_240, 5_000_000
    got = number(case, case.call(base, base, False, tried="BERT-Base, all trained, in fp32"))
    wrong_number(
        case,
        got,
        16 * base / 1e9,
        [
            (16 * base, "Those are bytes. A GB has 10⁹ of them."),
            (16 * base / 2**30, "You divided by 2³⁰, which is a GiB. Here a GB has 10⁹ bytes."),
            (4 * base / 1e9, "Those are the weights alone. Gradients and both moments have the same size each."),
            (8 * base / 1e9, "Weights and gradients. AdamW keeps two more numbers for each trained parameter."),
            (12 * base / 1e9, "12 bytes each: one of gradient and the two moments is missing."),
            (18 * base / 1e9, "That is mixed precision, and `mixed` is False here."),
            (8 * base / 1e9 / 2, "4 bytes in all: count gradient and moments too."),
        ],
        "Four things of 4 bytes for each parameter: weight, gradient, first moment, second moment.",
    )
    got = number(
        case, case.call(base + head, head, False, tried="a frozen BERT-Base with 5 million trained weights on top")
    )
    wrong_number(
        case,
        got,
        (4 * (base + head) + 12 * head) / 1e9,
        [
            (16 * (base + head) / 1e9, "Frozen weights need no gradient and no moments: they take 4 bytes each."),
            (16 * head / 1e9, "The frozen weights take memory too: 4 bytes each."),
            (
                (4 * (base + head) + 16 * head) / 1e9,
                "The weights of the head are counted twice: 12 bytes more each, not 16.",
            ),
        ],
        "All weights take 4 bytes, the trained ones 12 more.",
    )
    got = number(case, case.call(base + head, head, True, tried="the same in mixed precision"))
    right = (6 * (base + head) + 12 * head) / 1e9
    mistakes = [
        (
            (4 * (base + head) + 12 * head) / 1e9,
            "With mixed precision a bf16 copy of all weights is added, 2 bytes each.",
        ),
        ((4 * (base + head) + 14 * head) / 1e9, "The bf16 copy holds *all* weights, the frozen ones too."),
        ((2 * (base + head) + 12 * head) / 1e9, "The fp32 weights stay. The bf16 copy comes on top of them."),
        (((4 * (base + head) + 12 * head) / 2) / 1e9, "Not everything is halved: the fp32 weights and moments stay."),
    ]
    wrong_number(case, got, right, mistakes, "2 bytes more for every weight, trained or frozen.")
    case.close_with("So mixed precision takes more memory here. It saves activations and time.")


LOSSES = [[2.0, 2.5], [2.2] * 20, [6.0], [], [2.1] * 15]


@exercise(
    "25.4",
    "Repair the perplexity",
    difficulty=2,
    minutes=6,
    hints=(
        "A mean of means weights a batch with one token like a batch with twenty. What do you have to add up instead?",
        "Sum all losses and count all tokens over the batches. Divide once, after the loop, and take exp of it.",
    ),
)
def perplexity(case: Case) -> None:
    """Several batch sizes, a text without a masked token, a corpus without any."""
    case.causes = {
        "division by zero": "A batch, or the whole corpus, has no masked token: divide once, at the end.",
    }
    every = [loss for text in LOSSES for loss in text]
    right = math.exp(sum(every) / len(every))
    by_text = [sum(text) / len(text) for text in LOSSES if text]
    batches = [LOSSES[:2], LOSSES[2:4], LOSSES[4:]]
    by_batch = [sum(map(sum, batch)) / sum(map(len, batch)) for batch in batches]
    mistakes = [
        (math.exp(sum(by_batch) / 3), "That is still the mean of the batches' means. Divide once, after the loop."),
        (
            math.exp(sum(by_text) / len(by_text)),
            "That is the mean of the texts' means: a text with one token counts like one with 20.",
        ),
        (sum(every) / len(every), "That is the mean loss. The perplexity is exp of it."),
        (
            sum(map(math.exp, every)) / len(every),
            "You took exp of each loss. Take the mean of the losses first, then exp.",
        ),
        (sum(map(math.exp, by_batch)) / 3, "That is the mean of the batches' perplexities. Take exp once, at the end."),
        (2 ** (sum(every) / len(every)), "The losses are natural logarithms: use exp, and not 2 to the power of it."),
        (
            math.exp(sum(every) / len(LOSSES)),
            "You divided by the number of texts. Divide by the number of masked tokens.",
        ),
    ]
    for batch_size in (2, 1, 5, 3):
        got = number(case, case.call(LOSSES, batch_size, tried=f"five texts in batches of {batch_size}"))
        otherwise = f"The mean of all {len(every)} losses, whatever the batch size, then exp."
        wrong_number(case, got, right, mistakes, otherwise)
    got = number(case, case.call([[], []], 1, tried="two texts without a masked token"))
    case.expect(math.isnan(got), f"But it returned {got:g}. Without any token there is nothing to average: return nan.")
    case.close_with("What should not change and does is the fastest way to a bug.")


@exercise(
    "25.5",
    "GPUs for the reranker",
    difficulty=3,
    minutes=8,
    hints=(
        "Operations a second: 2 for each weight and token, times tokens, times candidates, times queries.",
        "Divide by what one GPU reaches, and round up: math.ceil, or -(-a // b).",
    ),
)
def gpus(case: Case) -> None:
    """A number that is not whole, one that is, and a very small one."""
    tries = (
        (
            (30_000, 50, 250, 21e6, 100e12),
            "30,000 queries a second, 50 candidates, 250 tokens, 21 M weights, 100 TFLOP/s",
        ),
        ((100, 10, 100, 1e6, 1e11), "a load that 2 GPUs carry exactly"),
        ((1, 1, 10, 1e6, 100e12), "a very small load"),
    )
    for sizes, tried in tries:
        queries, candidates, tokens, weights, flops = sizes
        exact = 2 * weights * tokens * candidates * queries / flops
        right = math.ceil(exact)
        result = case.call(*sizes, tried=tried)
        got = number(case, result)
        mistakes = [
            (exact, "GPUs come whole: round up."),
            (math.floor(exact), "Rounded down or to the nearest, they are too few, and the queue grows. Round up."),
            (math.ceil(exact / 2), "Half as many: a weight takes a multiplication and an addition, 2 operations."),
            (math.ceil(3 * exact), "Three times as many: that is training. Here is no backward pass."),
            (math.ceil(exact / tokens), "The tokens are missing: every token passes through all weights."),
            (math.ceil(exact / candidates), "The candidates are missing: each query is read with every one of them."),
            (math.floor(exact) + 1, "One too many where it comes out even. Use math.ceil."),
        ]
        if got != right:
            known = [sentence for wrong, sentence in mistakes if math.isclose(got, wrong, rel_tol=1e-9)]
            case.fail(
                f"But it returned {got:g}.",
                *(known[:1] or ["Operations a second over operations of one GPU, rounded up."]),
            )
    case.close_with(
        "The candidates are the cheapest knob: fewer of them under load cost a little quality and no hardware."
    )
