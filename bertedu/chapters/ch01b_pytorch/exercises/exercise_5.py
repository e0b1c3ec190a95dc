"""Exercise 1b.5: Repair the loss."""

import torch
from torch.nn.functional import cross_entropy, log_softmax, nll_loss

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "1b.5",
    "Repair the loss",
    difficulty=2,
    minutes=4,
    hints=(
        "How often is softmax computed on the way from the logits to the loss? Once is enough.",
        "cross_entropy wants logits: scores before softmax.",
    ),
)
def repaired(case: Case) -> None:
    """The mean cross-entropy of logits: right for certain answers, with a gradient."""
    case.causes = {
        "not implemented for 'Long'": "cross_entropy takes the logits first, and then the answers.",
        "is out of bounds": "[answers] picks whole rows, and a row is a text. You need no picking: give cross_entropy "
        "what it takes.",
    }
    logits, answers = 3 * case.randn(6, 10), case.randint(0, 10, (6,))
    certain, rows = torch.zeros(6, 10), torch.arange(6)
    certain[rows, answers] = 100.0
    log_p = log_softmax(logits, dim=-1)
    got = case.call(logits, answers, tried="6 texts with 10 logits each")
    if isinstance(got, torch.Tensor) and list(got.shape) == [6]:
        case.fail("But it returned one loss for each text. The loss of a batch is one number, their mean.")
    case.close(
        "the loss",
        got,
        cross_entropy(logits, answers),
        "It should be the mean of -ln p(right word), with p from one softmax.",
        mistakes={
            "That is the colleague's loss: softmax is still computed twice.": cross_entropy(log_p.exp(), answers),
            "You picked all right words for each text. You need no picking: give cross_entropy what it takes.": (
                -log_p[:, answers].mean()
            ),
            "This has no logarithm: it is minus the probability of the right word.": nll_loss(log_p.exp(), answers),
            "Here is no softmax at all: nll_loss takes log-probabilities.": nll_loss(logits, answers),
            "This is the sum over the texts. The loss of a batch is the mean.": cross_entropy(
                logits, answers, reduction="sum"
            ),
            "The sign is wrong: training would make the right words less probable.": -cross_entropy(logits, answers),
            "You take the mean probability first, and then its logarithm. Take the logarithm of each text first.": (
                -log_p.exp()[rows, answers].mean().log()
            ),
        },
    )
    best = case.call(certain, answers, tried="6 texts whose right logit is 100 and whose other logits are 0")
    case.close("the loss", best, torch.tensor(0.0), "A model that is certain and right should have the loss 0.")
    answer = case.answer
    case.answer = lambda x: case.protected(answer, x, answers.clone())
    case.gradient_flows(logits, names=("logits",), tried="6 texts")
    case.close_with("A certain and right answer costs 0 now, and no longer 1.46.")
