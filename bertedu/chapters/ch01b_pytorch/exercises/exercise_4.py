"""Exercise 1b.4: Write the step yourself."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

RATE = 0.5
OWN_DATA = "The check has a model and data of its own: use the names of the function, inputs and answers."
CAUSES = {  # words of an error message, and what usually causes it here
    "does not require grad": "Is the model called inside torch.no_grad(), or is the loss a Python number already?",
    "'float' object has no attribute": "item() makes a Python number. Call backward first, then item().",
    "index out of range": OWN_DATA,
    "batch_size": OWN_DATA,
    "not implemented for 'Long'": "cross_entropy takes the logits first, and then the answers.",
}


class Scores(nn.Module):
    """A network of one table: two ids pick two rows of 4 logits, and their sum is the answer."""

    def __init__(self, start: Tensor) -> None:
        super().__init__()
        self.table = nn.Embedding.from_pretrained(start.clone(), freeze=False)

    def forward(self, ids: Tensor) -> Tensor:  # [B, T] -> [B, V]
        return self.table(ids).sum(dim=1)


@exercise(
    "1b.4",
    "Write the step yourself",
    difficulty=2,
    minutes=6,
    runs="beside",
    hints=(
        "The cell above has the five lines. In the function the model and its data have other names.",
        "loss.item() turns the loss into a Python number. Compute the loss before the weights move, and clear the "
        "gradients before backward.",
    ),
)
def train_step(case: Case) -> None:
    """One training step: the loss that comes back, the weights after one step and after two."""
    case.causes = CAUSES
    start, ids, answers = case.randn(5, 4), torch.tensor([[0, 1], [2, 3], [1, 4]]), torch.tensor([2, 0, 3])
    model = Scores(start)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    losses, weights = [], [start]
    for count in ("a fresh model", "the same model again"):
        got = case.call(model, optimizer, ids, answers, tried=count)
        losses.append(number(case, got))
        weights.append(model.table.weight.detach().clone())
    expected, moved = steps(start, ids, answers, 2)
    squeezed = steps(start, ids, answers, 1, of_probabilities)[1][1]
    first_step(case, weights[1], moved, squeezed)
    case.close(
        "the loss",
        losses[0],
        torch.tensor(expected[0]),
        "Return the loss that the step began with.",
        mistakes={
            "This is the loss after the step. Return the one that the step began with.": expected[1],
            "This is the sum over the texts. The loss of a batch is the mean.": 3 * expected[0],
        },
    )
    second_step(case, weights[2], moved)
    case.close_with("Five lines, and they train BERT too.")


def first_step(case: Case, got: Tensor, moved: list[Tensor], squeezed: Tensor) -> None:
    """The weights after one step; `moved` are the right ones, before the first step and after each."""
    start = moved[0]
    case.begin(f"I called {case.name} on a fresh model, 3 texts and their answers.", "a fresh model")
    if torch.equal(got, start):
        case.fail(
            "But no weight has moved.",
            "backward only computes the gradients. Is there an optimizer.step() after it, and nothing between them?",
        )
    case.close(
        "the weights after one step",
        got,
        moved[1],
        "Compute the gradient of cross_entropy(model(inputs), answers), and let the optimizer make one step.",
        mistakes={
            "The mistake is in the loss: cross_entropy takes logits, and you gave it probabilities.": squeezed,
            "The weights have moved twice in one call. One step is asked for.": moved[2],
            "The gradient was added up: is backward called twice?": start + 2 * (moved[1] - start),
            "They moved the wrong way: the loss grows.": 2 * start - moved[1],
            "This is the step for the sum of the losses. cross_entropy takes their mean by itself.": (
                start + 3 * (moved[1] - start)
            ),
        },
    )


def second_step(case: Case, got: Tensor, moved: list[Tensor]) -> None:
    """The weights after a second step of the same model: were the gradients of the first one cleared?"""
    start = moved[0]
    case.begin(f"I called {case.name} a second time with the same model. The first step was right.", "a second step")
    case.close(
        "the weights after two steps",
        got,
        moved[2],
        "The second step should begin where the first one ended.",
        mistakes={
            "The second step followed the sum of both gradients. Which line makes PyTorch forget the old ones?": (
                moved[2] + moved[1] - start
            ),
        },
    )


def number(case: Case, got: object) -> float:
    """The loss as a number."""
    if isinstance(got, Tensor) and got.requires_grad:
        case.fail(
            "But the loss is still a tensor with all that it was computed from, and that stays in memory with it.",
            "Return loss.item().",
        )
    if isinstance(got, Tensor) and got.numel() != 1:
        case.fail(f"But it returned a tensor of the shape {list(got.shape)}, and the loss is one number.")
    case.is_a("what it returns", got, (float, int, Tensor), "a number, the loss")
    return float(got)  # type: ignore[arg-type]


def of_probabilities(logits: Tensor, answers: Tensor) -> Tensor:
    """The loss of somebody who computes softmax before cross_entropy."""
    return cross_entropy(logits.softmax(dim=-1), answers)


def steps(
    start: Tensor, ids: Tensor, answers: Tensor, count: int, loss_of: Callable[[Tensor, Tensor], Tensor] = cross_entropy
) -> tuple[list[float], list[Tensor]]:
    """The losses before each of some steps and the weights, before the first step and after each."""
    losses, weights = [], [start]
    for _ in range(count):
        table = weights[-1].clone().requires_grad_()
        loss = loss_of(table[ids].sum(dim=1), answers)
        (gradient,) = torch.autograd.grad(loss, table)
        losses.append(loss.item())
        weights.append((table - RATE * gradient).detach())
    return losses, weights
