"""Exercises 25.1, 25.2 and 25.4: parameters, memory, a perplexity. The others are in files of their own."""

import math
from collections.abc import Sequence

import numpy
import torch

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

BASE = (30_522, 512, 768, 3_072, 12)
TINY = (1_000, 64, 16, 40, 3)  # a feed-forward that is not 4·D


def number(case: Case, got: object, name: str = "the result") -> int | float:
    """The result as a number of Python, also from torch or NumPy; not yet for what is no number."""
    if (isinstance(got, torch.Tensor) and got.numel() == 1) or isinstance(got, numpy.number):
        got = got.item()
    case.is_a(name, got, int | float, "a number")
    return got  # type: ignore[return-value]


def whole(case: Case, got: object, name: str) -> int:
    """The result as a whole number; not yet for anything else."""
    value = number(case, got, name)
    if isinstance(got, bool) or not math.isfinite(value) or value != int(value):
        case.fail(f"But {name} is {value}, and it should be a whole number.")
    return int(value)


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


def mistakes_of(V: int, P: int, D: int, inner: int, L: int) -> list[tuple[int, str]]:
    """What people return in 25.1, with what each of them has forgotten or counted twice."""
    part = parts(V, P, D, inner, L)
    right = sum(part.values())
    without_biases = right - (D + L * (4 * D + inner + D))
    return [
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
        (right - part["norm"], "2·D are missing: are both segments counted, and the LayerNorm of the embeddings?"),
        (right - part["norm"] - part["norms"], "All LayerNorms are missing: 2·D each, one in the embeddings."),
        (right + 2 * D, "There are 2·D too many. Is there a LayerNorm after the last layer? BERT is post-norm."),
        (without_biases, "The biases are missing: every linear layer has as many as it has outputs."),
        (right - P * D, "The position embeddings are missing: P·D."),
        (right - D, "D are missing: is there a row for each of the two segments? Or is it a bias?"),
        (
            right - part["norm"] // 2 - part["norms"] // 2,
            "A LayerNorm has a scale and a shift, 2·D parameters, and not D.",
        ),
        (
            without_biases - part["norm"] - part["norms"],
            "Those are the matrices alone: all biases and all LayerNorms are missing.",
        ),
        (right - part["pooler"] - 2 * D, "The pooler is missing, and 2·D more: the two segments?"),
        (right - V * D, "The token embeddings are missing: V·D, the largest table."),
        (right + V * D, "V·D too many: the encoder has one table. The head of pre-training uses the same one."),
        (right + V, "V too many: that is the bias of the head of pre-training, and it is no part of the encoder."),
        (right - L * D * D - L * D, "One matrix a layer is missing: attention has query, key, value and output."),
        (right - L * D, "D a layer are missing: is it the second bias of the feed-forward?"),
        (right - L * inner, "F a layer are missing: the first bias of the feed-forward has F numbers."),
        (right + L * (4 * D - inner) * (2 * D + 1), "Use F for the feed-forward. Here it is not 4·D."),
    ]


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
        right, D = sum(parts(*sizes).values()), sizes[2]
        if got == right:
            continue
        known = [sentence for wrong, sentence in mistakes_of(*sizes) if got == wrong]
        difference = f"It is {abs(got - right):,} too {'many' if got > right else 'few'}; D is {D:,}, D·D {D * D:,}."
        case.fail(f"But it returned {got:,}.", *(known[:1] or [difference]))
    case.close_with("In an interview 12·D² for each layer and V·D are enough: they give 108 of 109 million.")


def wrong_number(case: Case, got: float, right: float, mistakes: Sequence[tuple[float, str]], otherwise: str) -> None:
    """Not yet, unless a number is right; a known mistake hears its own sentence."""
    if not math.isclose(got, right, rel_tol=1e-4):
        known = [sentence for wrong, sentence in mistakes if math.isclose(got, wrong, rel_tol=1e-4)]
        case.fail(f"But it returned {got:.4g}.", *(known[:1] or [otherwise]))


@exercise(
    "25.2",
    "Does it fit?",
    difficulty=2,
    minutes=8,
    hints=(
        "Every weight takes 4 bytes. Every trained one takes 4 more for its gradient and 2·4 for the moments of AdamW.",
        "(4 * parameters + 12 * trained + (2 * parameters if mixed else 0)) / 1e9",
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
            (16 * base / 1e6, "Those are megabytes: a GB has 10⁹ bytes."),
            (
                8 * base / 1e9,
                "Those are weights and gradients alone. AdamW keeps two more numbers for each trained parameter.",
            ),
            (
                12 * base / 1e9,
                "That is 12 bytes for each parameter: the gradient is missing, or one of the two moments.",
            ),
            (18 * base / 1e9, "That is mixed precision, and `mixed` is False here."),
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
            (
                (8 * (base + head) + 8 * head) / 1e9,
                "You counted a gradient for every weight. A frozen weight has none.",
            ),
            (16 * head / 1e9, "The frozen weights take memory too: 4 bytes each."),
            (
                (4 * (base + head) + 16 * head) / 1e9,
                "The weights of the head are counted twice: 12 bytes more each, not 16.",
            ),
        ],
        "All weights take 4 bytes, the trained ones 12 more.",
    )
    in_mixed_precision(case, base, head)
    case.close_with("So mixed precision takes more memory here. It saves activations and time.")


def in_mixed_precision(case: Case, base: int, head: int) -> None:
    """The frozen model once more, with a bf16 copy of all weights."""
    got = number(case, case.call(base + head, head, True, tried="that frozen model in mixed precision"))
    right = (6 * (base + head) + 12 * head) / 1e9
    mistakes = [
        (
            (4 * (base + head) + 12 * head) / 1e9,
            "With mixed precision a bf16 copy of all weights is added, 2 bytes each.",
        ),
        ((4 * (base + head) + 14 * head) / 1e9, "The bf16 copy holds *all* weights, the frozen ones too."),
        ((2 * (base + head) + 12 * head) / 1e9, "The fp32 weights stay. The bf16 copy comes on top of them."),
        (
            (2 * (base + head) + 10 * head) / 1e9,
            "The fp32 weights stay beside the bf16 copy, and gradients are in fp32 here.",
        ),
        (((4 * (base + head) + 12 * head) / 2) / 1e9, "Not everything is halved: the fp32 weights and moments stay."),
    ]
    wrong_number(case, got, right, mistakes, "2 bytes more for every weight, trained or frozen.")


LOSSES = [[2.0, 2.5], [2.2] * 20, [6.0], [], [2.1] * 15]


@exercise(
    "25.4",
    "Repair the perplexity",
    difficulty=2,
    minutes=6,
    nan=True,
    hints=(
        "A mean of means weights a batch with one token like a batch with twenty. What do you have to add up instead?",
        "Sum all losses and count all tokens over the batches. Divide once, after the loop, and take exp of it.",
    ),
)
def perplexity(case: Case) -> None:
    """Several batch sizes, a text without a masked token, a corpus without any."""
    case.causes = {
        "division by zero": "A batch or the corpus has no masked token: divide once, at the end, or return nan.",
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
        (1 / right, "The sign is wrong: each loss is −log p already, so take exp of the mean, without a minus."),
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
    case.close_with("To find a bug, first look for what should not change and does.")
