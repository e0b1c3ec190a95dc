"""Exercise 25.1: Every parameter."""

import math

from bertedu.chapters.ch25_the_interview.exercises.shared import number
from bertedu.course.case import Case
from bertedu.course.exercise import exercise

BASE = (30_522, 512, 768, 3_072, 12)


TINY = (1_000, 64, 16, 40, 3)  # a feed-forward that is not 4·D


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
