"""Exercise 1b.2: Softmax of a batch."""

import torch

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "1b.2",
    "Softmax of a batch",
    difficulty=2,
    minutes=5,
    without=("softmax", "log_softmax", "softmin"),
    hints=(
        "The three lines above, for one text, are nearly right. Along which axis lie the V scores of one text?",
        "powers.sum(dim=-1) has the shape [B], and powers [B, V]. What does keepdim=True change?",
    ),
)
def softmax_of_a_batch(case: Case) -> None:
    """Softmax along the last axis of [B, V], also for one text and for equal logits."""
    flush = "A sum over the V scores without keepdim=True has the shape [B]. It must be [B, 1] to fit [B, V]."
    one_number = "math.exp takes a single number. For tensors use logits.exp()."
    case.causes = {"must match the size": flush, "only one element": one_number}
    logits = case.randn(3, 4)
    powers = logits.exp()
    got = case.call(logits, tried="3 texts with 4 scores each")
    case.same_shape("the result", got, logits, "Each score becomes a probability, so the shape stays.")
    case.close(
        "the result",
        got,
        powers / powers.sum(dim=-1, keepdim=True),
        "Each text should have positive numbers that sum to 1: e to each score, divided by their sum.",
        mistakes={
            "All 12 numbers together sum to 1. Each text should have probabilities of its own.": powers / powers.sum(),
            "Your columns sum to 1. The 4 scores of one text lie along the other axis.": powers / powers.sum(dim=0),
            "These are the powers. Their sum is not 1 yet.": powers,
            "You divide the scores by their sum. Raise e to them first, so that nothing is negative.": (
                logits / logits.sum(dim=-1, keepdim=True)
            ),
            "You divide the scores by the sum of the powers. Divide the powers.": (
                logits / powers.sum(dim=-1, keepdim=True)
            ),
            "You divide by the mean, so the numbers of a text sum to 4. Divide by the sum.": (
                powers / powers.mean(dim=-1, keepdim=True)
            ),
            "You divide by the largest power. Divide by the sum.": powers / powers.max(dim=-1, keepdim=True)[0],
            "These are the logarithms of the probabilities.": logits - powers.sum(dim=-1, keepdim=True).log(),
            "2 is not e: logits.exp() raises e to them.": 2**logits / (2**logits).sum(dim=-1, keepdim=True),
        },
    )
    square = case.randn(4, 4)  # where a sum without keepdim fits, and divides text i's score j by the sum of text j
    powers = square.exp()
    case.close(
        "the result",
        case.call(square, tried="4 texts with 4 scores each"),
        powers / powers.sum(dim=-1, keepdim=True),
        "With 3 texts it was right. What does broadcasting do when B and V are equal?",
        mistakes={flush: powers / powers.sum(dim=-1)},
    )
    alone = case.call(torch.zeros(1, 5), tried="one text with 5 equal scores")
    case.close("the result", alone, torch.full((1, 5), 0.2), "Five equal scores share the probability equally.")
    case.gradient_flows(logits, names=("logits",), tried="3 texts")
    case.close_with("Each text has a sum of its own, and keepdim=True lets it be broadcast back.")
