"""Exercise 16.3: The soft loss, with padding."""

from typing import Any

import torch
from torch import Tensor

from bertedu.chapters.ch16_albert_and_distilbert.exercises.shared import (
    AXIS,
    divergence,
    not_a_number,
    one_number,
)
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "16.3",
    "The soft loss, with padding",
    difficulty=3,
    minutes=15,
    hints=(
        "student[mask == 1] and teacher[mask == 1] are the logits of the N real tokens, [N, V]. Divide both by T, then "
        "log_softmax over the words.",
        "KL = (t.exp() * (t - s)).sum(dim=-1), with s and t the log-probabilities. It has one number for each real "
        "token: take the mean.",
    ),
)
def soft_loss(case: Case) -> None:
    """Two padded texts at T = 2, then T = 1, no padding, large logits, and the gradient."""
    case.causes['"dim"'] = AXIS
    case.causes["Boolean value of Tensor"] = "A mask selects tokens by indexing: student[mask == 1]."
    case.causes["must match the size"] = (
        "logits are [B, tokens, V] and the mask [B, tokens]. Index with the mask, or give it a third axis."
    )
    student, teacher = 2 * case.randn(2, 5, 7), 2 * case.randn(2, 5, 7)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    got = case.call(student, teacher, mask, 2.0, tried="two texts of 5 and 2 tokens, padded to 5, with T = 2")
    got = one_number(case, got)
    not_a_number(case, got)
    tokens, real = divergence(student, teacher, 2, 2), mask == 1
    right = tokens[real].mean()
    sharp = (divergence(student, teacher, 1, 1))[real].mean()
    case.close(
        "the loss",
        got,
        right,
        "Compute the KL of one real token by hand, as above: both sides at T, summed over the words.",
        mistakes=soft_mistakes(student, teacher, mask),
        tolerance=1e-4,
    )
    got = one_number(case, case.call(student, teacher, mask, 1.0, tried="the same texts with T = 1"))
    case.close("the loss", got, sharp, "It was right for T = 2. Use the argument T.", tolerance=1e-4)
    other_cases(case, student, teacher, mask)
    rest: dict[str, Any] = {"teacher": teacher, "mask": mask, "T": 2.0}
    case.gradient_flows(student, names=("the student's logits",), tried="the same texts with T = 2", **rest)


def soft_mistakes(student: Tensor, teacher: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """What known mistakes give at T = 2, by the sentence for each."""
    tokens, real = divergence(student, teacher, 2, 2), mask == 1
    right = tokens[real].mean()
    s, t = (student / 2).log_softmax(-1), (teacher / 2).log_softmax(-1)
    of_students = (student / 2).softmax(-1)
    return {
        "kl_div needs the student's side in logarithms: log_softmax, and not softmax.": (
            (t.exp() * (t - of_students)).sum(-1)[real].mean()
        ),
        "Padding counts in your mean. Select the real tokens first, or divide by their number.": tokens.mean(),
        "Padding is left out of the sum, but the mean divides by all positions. How many real tokens are there?": (
            (tokens * mask).sum() / mask.numel()
        ),
        "That is the mean over real tokens times T². The factor comes later, where the losses are added.": 4 * right,
        "You divided by T². The factor T² comes later, and multiplies.": right / 4,
        "Your mean runs over the padding: the mask has 1 for real tokens.": tokens[~real].mean(),
        "That is a sum over the real tokens. Divide by their number.": tokens[real].sum(),
        "You divided by the number of texts. reduction='batchmean' divides by the first axis: select the real "
        "tokens first, so that it is N.": tokens[real].sum() / 2,
        "You divided by the number of texts, and padding counts. Select the real tokens first.": tokens.sum() / 2,
        "You averaged over the words as well. The KL of a token is a sum over its V words. (kl_div does this "
        "unless you say reduction='batchmean'.)": right / 7,
        "The KL has its two sides swapped: it is weighted with the student's probabilities. Weight with the "
        "teacher's. (kl_div takes the student first.)": (s.exp() * (s - t)).sum(-1)[real].mean(),
        "The temperature is missing: that is the KL at T = 1.": divergence(student, teacher, 1, 1)[real].mean(),
        "Only the student is divided by T. Teacher and student need the same temperature.": (
            divergence(student, teacher, 2, 1)[real].mean()
        ),
        "Only the teacher is divided by T. Teacher and student need the same temperature.": (
            divergence(student, teacher, 1, 2)[real].mean()
        ),
        "You multiplied the logits by T. A temperature divides.": divergence(student, teacher, 0.5, 0.5)[real].mean(),
        "That is the cross-entropy. Subtract the teacher's entropy, so that it is 0 where both agree.": (
            -(t.exp() * s).sum(-1)[real].mean()
        ),
        "The sign is wrong: a KL is never negative.": -right,
        "You took the mean of each text, then of both: the short text counts as much as the long one. "
        "Each real token should count once.": (tokens[0].mean() + tokens[1, :2].mean()) / 2,
        "student[mask] takes the numbers 0 and 1 for the numbers of texts. Make the mask boolean: mask == 1.": (
            divergence(student, teacher, 2, 2)[mask].mean()
        ),
        "The softmax runs over the tokens. It must run over the words, the last axis.": along_tokens(
            student, teacher, real
        ),
    }


def other_cases(case: Case, student: Tensor, teacher: Tensor, mask: Tensor) -> None:
    """Texts without padding, a student that agrees, and logits that are rounded to probabilities of 0."""
    full = torch.ones(2, 5, dtype=torch.long)
    got = one_number(case, case.call(student, teacher, full, 2.0, tried="texts without padding"))
    case.close(
        "the loss",
        got,
        divergence(student, teacher, 2, 2).mean(),
        "Without padding every token counts.",
        tolerance=1e-4,
    )
    got = one_number(case, case.call(student, student, mask, 2.0, tried="a student that says what its teacher says"))
    case.close("the loss", got, torch.tensor(0.0), "Where both agree the KL is 0.", tolerance=1e-4)
    large = torch.tensor([[[300.0, 0, -300], [0, 300, -300]]]), torch.tensor([[[0.0, 300, -300], [0, 300, -300]]])
    got = one_number(case, case.call(*large, torch.tensor([[1, 1]]), 1.0, tried="logits of 300 and −300, with T = 1"))
    case.expect(
        bool(torch.isfinite(got)),
        f"But the loss is {got.item()}. A probability was rounded to 0, and its logarithm is −∞: use log_softmax for "
        "both sides, and multiply by t.exp().",
    )
    limited = (
        "Is there a small number inside a logarithm, or a limit? It cuts large losses off, and their gradients too."
    )
    case.close("the loss", got, torch.tensor(150.0), limited, tolerance=1e-3)


def along_tokens(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    """The loss with a softmax along the tokens."""
    s, t = (student / 2).log_softmax(1), (teacher / 2).log_softmax(1)
    return (t.exp() * (t - s)).sum(-1)[real].mean()
