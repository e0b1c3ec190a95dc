"""Exercise 10.5: Down to zero."""

import torch
from torch.nn.functional import cross_entropy, nll_loss

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "10.5",
    "Down to zero",
    difficulty=3,
    minutes=8,
    hints=(
        "What does cross_entropy do with its first argument before it takes a logarithm?",
        "It expects logits: pass them on as they are.",
    ),
)
def loss(case: Case) -> None:
    logits, labels = case.randn(6, 3), case.randint(0, 3, (6,))
    right = cross_entropy(logits, labels)
    result = case.call(logits, labels, tried="6 rows of 3 logits")
    probabilities = logits.softmax(dim=-1)
    chosen = probabilities.gather(1, labels[:, None])
    case.same_shape("the loss", result, [], "Return one number for the batch: the mean.")
    case.close(
        "the loss",
        result,
        right,
        "It is not the mean of minus the logarithm of the right class's probability.",
        "Only one line of broken_loss is wrong. What should cross_entropy get as its first argument?",
        mistakes={
            "That is the broken loss: there are still two softmaxes.": cross_entropy(probabilities, labels),
            "That is the sum over the rows. Return the mean.": right * len(labels),
            "You divided by the number of logits. Divide by the number of rows.": right / logits.shape[1],
            "The sign is wrong: training would make the right class less probable.": -right,
            "That is one minus the mean probability of the right class: a logarithm is missing.": 1 - chosen.mean(),
            "That is minus the mean logit of the right class: a softmax is missing.": -logits.gather(
                1, labels[:, None]
            ).mean(),
            "That is minus the mean probability of the right class: a logarithm is missing.": -chosen.mean(),
            "Your softmax goes over the rows of the batch. It goes over the classes of each row: dim=-1.": (
                nll_loss(logits.log_softmax(dim=0), labels)
            ),
        },
    )
    surely = 1000 * torch.eye(3)
    result = case.call(surely, torch.tensor([1, 0, 2]), tried="logits of 1,000, two rows of three wrong")
    case.expect(
        not bool(torch.isnan(result).any()),
        "But the loss is NaN: exp(1000) is infinite, and infinity divided by infinity is NaN (0 · log 0, too).",
        "Is there a function that does softmax and logarithm in one step?",
    )
    case.expect(
        bool(torch.isfinite(result).all()),
        "But the loss is not finite: the probability of the right class is 0 there, and log 0 is minus infinity.",
        "Is there a function that does softmax and logarithm in one step?",
    )
    case.close(
        "the loss",
        result,
        torch.tensor(2000 / 3),
        "For large logits, the loss of a row is the largest logit minus the right one.",
        "Is there a small number inside your logarithm, or a limit? It cuts large losses off, and their gradients too.",
    )
    answer, case.answer = case.answer, lambda x: case.protected(answer, x, labels.clone())
    case.gradient_flows(logits, names=("logits",), tried="the 6 rows")
    case.answer = answer
    case.close_with("And 0.55: the best probabilities, (1, 0, 0), used as logits, give −ln(e / (e + 2)) = 0.55.")
