"""Exercise 14.4: Two sides, one gap."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def from_both_sides(log_left: Tensor, log_right: Tensor, log_prior: Tensor) -> Tensor:
    """log p(w | both sides), if the sides are independent given w: [B, V], [B, V] and [V], all log p."""
    return (log_left + log_right - log_prior).log_softmax(dim=-1)


@exercise(
    "14.4",
    "Two sides, one gap",
    difficulty=3,
    minutes=12,
    hints=(
        "Bayes: p(w | l, r) is proportional to p(l | w) · p(r | w) · p(w). And p(l | w) is proportional to "
        "p(w | l) / p(w).",
        "In logarithms a product is a sum, a quotient a difference. Then make the probabilities of each gap sum to 1.",
    ),
)
def two_sides(case: Case) -> None:
    for batch, vocabulary in ((1, 4), (3, 7)):
        left, right = (case.randn(batch, vocabulary).log_softmax(dim=-1) for _ in range(2))
        frequency = case.randn(vocabulary).log_softmax(dim=-1)
        got = case.call(
            left, right, frequency, tried=f"{batch} {'gap' if batch == 1 else 'gaps'} and {vocabulary} words"
        )
        case.same_shape("the result", got, [batch, vocabulary])
        wanted = from_both_sides(left, right, frequency)
        plain = left + right - frequency
        mistakes = {
            "The probabilities do not sum to 1 yet: subtract the logarithm of their sum, over the vocabulary.": plain,
            "A frequent word is counted twice here: once on each side. Divide by p(w) once.": (
                (left + right).log_softmax(dim=-1)
            ),
            "p(w) should be divided out, and here it is multiplied once more.": (
                (left + right + frequency).log_softmax(dim=-1)
            ),
            "This is the mean of both sides. If both are fairly sure, together they should be surer.": (
                ((left + right) / 2).log_softmax(dim=-1)
            ),
            "This adds the probabilities. The two sides are two observations: multiply.": (
                torch.logaddexp(left, right) - torch.tensor(2.0).log()
            ),
            "These are probabilities, and their logarithms are asked for.": wanted.exp(),
            "This sums to 1 over the batch. Each gap has its own distribution over the words.": (
                plain.log_softmax(dim=0)
            ),
            "p(w) is divided out twice here.": (left + right - 2 * frequency).log_softmax(dim=-1),
            "p(w) comes in as a logarithm already: it needs no second one.": (
                (left + right - frequency.log()).log_softmax(dim=-1)
            ),
            "All gaps together sum to 1 here. Each gap has its own distribution over the words.": (
                plain - plain.flatten().logsumexp(dim=0)
            ),
            "These are logarithms: where probabilities are multiplied, they are added.": (
                (left * right / frequency).log_softmax(dim=-1)
            ),
        }
        case.close("the log probabilities", got, wanted, "Write Bayes' rule down first.", mistakes=mistakes)
    case.close_with("It is right if the two sides know nothing of each other. BERT needs no such assumption.")
