"""Exercise 25.3: Probabilities minus one-hot."""

import torch
from torch.nn.functional import cross_entropy, one_hot

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def fails_silently(got: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether a tensor of the right shape is not the right one."""
    return not torch.allclose(got.float(), right, atol=1e-5)


def mistakes_of(logits: torch.Tensor, labels: torch.Tensor, right: torch.Tensor) -> dict[str, torch.Tensor]:
    """What people return where all rows count, by what they hear."""
    rows, entries, label = len(labels), logits.numel(), one_hot(labels, logits.size(1))
    p = logits.softmax(-1)
    return {
        "It is the gradient of the sum of the losses. The loss is their mean: divide by the rows that count.": right
        * rows,
        "The sign is wrong: probabilities minus one-hot, so the label's entry is negative.": -right,
        "Those are the probabilities, divided by 4. Subtract 1 at each label.": p / rows,
        "Those are the probabilities. Subtract 1 at each label, then divide by the rows that count.": p,
        "Your softmax runs along the rows, dim=0. Each row is one prediction: dim=-1.": (logits.softmax(0) - label)
        / rows,
        "Divide by the number of rows, and not by the number of all entries.": right * rows / entries,
        "You subtracted the one-hot label from the *logarithm* of the probabilities. Take softmax without log.": (
            logits.log_softmax(-1) - label
        )
        / rows,
        "Only the label's entry is right. Every other class has a gradient too: its probability.": right * label,
        "Those are logits minus one-hot: softmax is missing.": (logits - label) / rows,
    }


@exercise(
    "25.3",
    "Probabilities minus one-hot",
    difficulty=3,
    minutes=10,
    hints=(
        "Softmax of the logits along the classes, minus 1 at the label of each row. Then 0 for rows that don't count.",
        "Divide by the number of rows that count, (labels != -100).sum(). Don't use −100 as an index: with few classes "
        "it is an error, and with 100 or more it subtracts 1 at a wrong class.",
    ),
)
def gradient(case: Case) -> None:
    """Rows that all count, then rows that don't, then large logits."""
    logits, labels = case.randn(4, 5), torch.tensor([1, 0, 4, 2])

    def reference(logits: torch.Tensor, labels: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
        leaf = logits.detach().clone().requires_grad_()
        cross_entropy(leaf, labels, ignore_index=-100, reduction=reduction).backward()
        assert leaf.grad is not None
        return leaf.grad

    right = reference(logits, labels)
    case.causes = {
        "does not require grad": "Write the formula yourself: autograd is switched off here.",
        "out of bounds": "A label of −100 is no class. Set it aside before you use labels as an index.",
        "out of range": "A label of −100 is no class. Set it aside before you use labels as an index.",
        "non-negative": "`one_hot` refuses the label −100: replace it by 0 first, and set these rows to 0 at the end.",
    }
    with torch.no_grad():  # so that autograd gives no answer
        got = case.call(logits, labels, tried="logits [4, 5] with four labels")
    case.close(
        "the gradient",
        got,
        right,
        "Softmax minus one-hot, divided by the number of rows.",
        mistakes=mistakes_of(logits, labels, right),
    )
    labels = torch.tensor([1, -100, 4, -100])
    right = reference(logits, labels)
    got = case.call(logits, labels, tried="the same logits, two labels of −100")
    if isinstance(got, torch.Tensor) and got.shape == (2, 5):
        case.fail("But it has 2 rows and should have 4: a row with the label −100 stays, and all its entries are 0.")
    if isinstance(got, torch.Tensor) and got.shape == right.shape and fails_silently(got, right):
        rest = got[[1, 3]]
        if rest.abs().max() > 1e-6:
            case.fail("But rows with the label −100 have a gradient. They don't count: all their entries are 0.")
        if not fails_silently(got, right / 2):
            case.fail("But it is half as large: you divided by all 4 rows, and 2 of them count.")
    case.close("the gradient", got, right, "Only rows whose label is not −100 count, in the sum and in the division.")
    logits, labels = torch.tensor([[1000.0, 0.0], [0.0, -1000.0]]), torch.tensor([0, 1])
    got = case.call(logits, labels, tried="logits of 1000")
    if isinstance(got, torch.Tensor) and got.isnan().any():
        case.fail("But it holds NaN: exp(1000) is infinite. Subtract the largest logit first, or use softmax().")
    case.close("the gradient", got, reference(logits, labels), "A wrong, confident row has the gradient ±1/2 here.")
    case.close_with("In every row that counts the entries sum to 0: what one class gains, the others lose.")
