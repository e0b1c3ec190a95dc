"""Exercise 14.2: The loss of skip-gram."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, logsigmoid

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def sampling_loss(center: Tensor, context: Tensor, negatives: Tensor) -> Tensor:
    """Skip-gram with negative sampling: center, context [P, D], negatives [P, K, D] to a number.

    Mikolov, Sutskever et al. 2013, equation 4, as a loss.
    """
    positive = (center * context).sum(dim=-1)  # [P]
    negative = torch.einsum("pd,pkd->pk", center, negatives)
    return -(logsigmoid(positive) + logsigmoid(-negative).sum(dim=-1)).mean()


@exercise(
    "14.2",
    "The loss of skip-gram",
    difficulty=2,
    minutes=12,
    hints=(
        "Two kinds of dot products: [P] with the true context, and [P, K] with the negatives. Which sign has each "
        "inside the sigmoid?",
        "torch.nn.functional.logsigmoid of both, the negatives' with a minus inside. Sum over K, then the mean over P.",
    ),
)
def skipgram_loss(case: Case) -> None:
    case.causes = {
        "must match the size of tensor": "center [P, D] needs an axis for the K negatives: center[:, None].",
    }
    for pairs, count, size in ((2, 3, 4), (6, 3, 8), (5, 5, 3)):
        center, context = case.randn(pairs, size), case.randn(pairs, size)
        negatives = case.randn(pairs, count, size)
        got = case.call(center, context, negatives, tried=f"{pairs} pairs, K = {count}, D = {size}")
        case.same_shape("the loss", got, [], "One number for all pairs together: a mean over the P pairs.")
        positive = (center * context).sum(dim=-1)
        negative = torch.einsum("pd,pkd->pk", center, negatives)
        right = sampling_loss(center, context, negatives)
        log_softmax = torch.cat([positive[:, None], negative], dim=1).log_softmax(dim=-1)[:, 0]
        true, drawn = logsigmoid(positive), logsigmoid(-negative)
        cosines = (cosine_similarity(center, context), cosine_similarity(center[:, None], negatives, dim=-1))
        of_context = torch.einsum("pd,pkd->pk", context, negatives)
        every_pair = logsigmoid(center @ context.T)  # [P, P]
        every_negative = logsigmoid(-(center @ negatives.mT)).sum(dim=-1)  # [P, P]
        mistakes = {
            "A loss is to be made small: the minus sign is missing.": -right,
            "The negatives are pushed towards the center here, like the true context. Which sign belongs inside "
            "their sigmoid?": -(true + logsigmoid(negative).sum(dim=-1)).mean(),
            "This is the mean over the K negatives. The loss adds them up.": -(true + drawn.mean(dim=-1)).mean(),
            "This is the mean over the K + 1 terms of a pair. The loss adds them up.": right / (count + 1),
            "This is the sum over the pairs. The loss is their mean.": pairs * right,
            "Every center is compared with the contexts of all pairs here (a matrix product). Pair by pair is asked "
            "for.": -(every_pair.mean(dim=-1) + drawn.sum(dim=-1)).mean(),
            "Every center is compared with the negatives of all pairs here (by broadcasting or a matrix product). Each "
            "pair has negatives of its own.": -(true + every_negative).mean(),
            "The negatives are compared with the context here. They belong to the center.": (
                -(true + logsigmoid(-of_context).sum(dim=-1)).mean()
            ),
            "This uses cosines. The loss has plain dot products: vectors may be long.": (
                -(logsigmoid(cosines[0]) + logsigmoid(-cosines[1]).sum(dim=-1)).mean()
            ),
            "This is a softmax over the context and the negatives. Negative sampling asks K + 1 separate yes-or-no "
            "questions.": -log_softmax.mean(),
            "The negatives do not count here. Without them, all vectors may become equal.": -true.mean(),
            "The true context does not count here.": -drawn.sum(dim=-1).mean(),
            "The logarithm is missing: these are the probabilities themselves.": (
                -(positive.sigmoid() + (-negative).sigmoid().sum(dim=-1)).mean()
            ),
        }
        case.close("the loss", got, right, "Compute one pair with a pencil: K + 1 terms.", mistakes=mistakes)
    far = torch.full((1, 2), 12.0)
    got = case.call(far, -far, far[:, None], tried="a pair whose dot products are -288 and 288")
    if not bool(torch.isfinite(got).all()):
        case.almost(
            "The loss is not finite here: sigmoid(-288) is 0 in float32, and log(0) is minus infinity.",
            "logsigmoid computes both steps at once, without this.",
        )
    limited = (
        "Both terms are nearly 288. Is there a small number inside your logarithm, or a limit? It cuts large losses "
    )
    case.close(
        "the loss", got, torch.tensor(576.0), limited + "off, and their gradients too. logsigmoid needs neither."
    )
    case.gradient_flows(center, context, negatives, names=("center", "context", "negatives"), tried="5 pairs")
    case.close_with("Each step makes one dot product larger and K smaller: there is no layer in this model.")
