"""Whiteboard drill: the loss of knowledge distillation."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.course.case import Case
from bertedu.course.explaining import compare, one_number
from bertedu.interview.drills.drill import Drill

TASK = """
Write `distillation_loss(student_logits, teacher_logits, labels, temperature, alpha)`: a small classifier learns from a
large one and from the labels.

    student_logits, teacher_logits   [B, C]
    labels                           [B]      whole numbers, the right classes
    temperature                      a float T
    alpha                            a float: the weight of the soft loss

The soft loss is the Kullback-Leibler divergence of the student's distribution from the teacher's,
KL(teacher ‖ student), both at temperature T. It is a sum over the classes and a mean over the batch, times T². The hard
loss is the cross-entropy with the labels, at temperature 1, as a mean. Return
alpha · soft + (1 - alpha) · hard, a scalar tensor to train the student with.

Logits may be large: 300 and more. Allowed: all of torch.
"""

STUB = """
import torch
from torch.nn import functional as F


def distillation_loss(student_logits, teacher_logits, labels, temperature, alpha):
    raise NotImplementedError
"""

SOLUTION = """
import torch
from torch.nn import functional as F


def distillation_loss(student_logits, teacher_logits, labels, temperature, alpha):
    student = F.log_softmax(student_logits / temperature, dim=-1)
    teacher = F.log_softmax(teacher_logits / temperature, dim=-1)
    soft = (teacher.exp() * (teacher - student)).sum(dim=-1).mean() * temperature**2
    hard = F.cross_entropy(student_logits, labels)
    return alpha * soft + (1 - alpha) * hard
"""


def divergence(student: Tensor, teacher: Tensor, of_student: float, of_teacher: float, axis: int = -1) -> Tensor:
    """KL(teacher ‖ student) for each text, [B], each side with its own temperature."""
    s, t = (student / of_student).log_softmax(axis), (teacher / of_teacher).log_softmax(axis)
    return (t.exp() * (t - s)).sum(dim=-1)


Soft = Callable[[Tensor, Tensor, float], Tensor]


def right_soft(student: Tensor, teacher: Tensor, T: float) -> Tensor:
    """The soft loss, without T²."""
    return divergence(student, teacher, T, T).mean()


def mixed(
    soft: Soft = right_soft,
    factor: Callable[[float], float] = lambda T: T * T,
    hard_at: Callable[[float], float] = lambda T: 1.0,
    both: Callable[[Tensor, Tensor, float], Tensor] = lambda soft, hard, alpha: alpha * soft + (1 - alpha) * hard,
    hard_mean: str = "mean",
) -> Callable[[Tensor, Tensor, Tensor, float, float], float]:
    """The loss with another soft part, another factor, another temperature of the hard part, or another mixture."""

    def run(student: Tensor, teacher: Tensor, labels: Tensor, T: float, alpha: float) -> float:
        hard = cross_entropy(student / hard_at(T), labels, reduction=hard_mean)
        return float(both(factor(T) * soft(student, teacher, T), hard, alpha))

    return run


def of_probabilities(student: Tensor, teacher: Tensor, T: float) -> Tensor:
    """kl_div with probabilities in place of log-probabilities."""
    s, t = (student / T).softmax(-1), (teacher / T).log_softmax(-1)
    return (t.exp() * (t - s)).sum(-1).mean()


RIGHT, UNSCALED = mixed(), mixed(factor=lambda T: 1.0)
MISTAKES: dict[str, Callable] = {
    "T² is missing: the gradient of the soft loss shrinks with 1 / T², and T² undoes that.": mixed(
        factor=lambda T: 1.0
    ),
    "The soft loss is multiplied by T, and it should be T².": mixed(factor=lambda T: T),
    "The soft loss is divided by T². Multiply.": mixed(factor=lambda T: 1 / T**2),
    "T² multiplies the hard loss, too. It belongs to the soft one only.": (
        lambda s, t, labels, T, alpha: T * T * UNSCALED(s, t, labels, T, alpha)
    ),
    "The hard loss is computed at temperature T. The labels are compared with the plain logits.": mixed(
        hard_at=lambda T: T
    ),
    "alpha and 1 - alpha are swapped: alpha is the weight of the soft loss.": mixed(
        both=lambda soft, hard, alpha: (1 - alpha) * soft + alpha * hard
    ),
    "The hard loss is missing its weight 1 - alpha.": mixed(both=lambda soft, hard, alpha: alpha * soft + hard),
    "The soft loss is missing its weight alpha.": mixed(both=lambda soft, hard, alpha: soft + (1 - alpha) * hard),
    "alpha is not used.": mixed(both=lambda soft, hard, alpha: soft + hard),
    "The hard loss is missing.": mixed(both=lambda soft, hard, alpha: alpha * soft),
    "You averaged over the classes, too. The divergence is a sum over the classes. (kl_div does this unless you say "
    "reduction='batchmean'.)": mixed(soft=lambda s, t, T: right_soft(s, t, T) / s.size(-1)),
    "The soft loss is a sum over the batch. Take the mean. (reduction='batchmean', not 'sum'.)": mixed(
        soft=lambda s, t, T: right_soft(s, t, T) * len(s)
    ),
    "The two sides of the divergence are swapped: weight with the teacher's probabilities. (kl_div takes the student "
    "first.)": mixed(soft=lambda s, t, T: right_soft(t, s, T)),
    "kl_div needs the student's side in logarithms: log_softmax, and not softmax.": mixed(soft=of_probabilities),
    "The student's logits are not divided by T. Both sides need the same temperature.": mixed(
        soft=lambda s, t, T: divergence(s, t, 1, T).mean()
    ),
    "The teacher's logits are not divided by T. Both sides need the same temperature.": mixed(
        soft=lambda s, t, T: divergence(s, t, T, 1).mean()
    ),
    "The temperature is not used: that is the divergence at T = 1.": mixed(
        soft=lambda s, t, T: divergence(s, t, 1, 1).mean()
    ),
    "You multiplied the logits by T. A temperature divides.": mixed(
        soft=lambda s, t, T: divergence(s, t, 1 / T, 1 / T).mean()
    ),
    "Your soft loss is a cross-entropy. It trains the same student, but the task asks for the divergence: subtract the "
    "teacher's entropy.": mixed(soft=lambda s, t, T: cross_entropy(s / T, (t / T).softmax(-1))),
    "Your soft loss is the squared difference of the logits. The task asks for the divergence.": mixed(
        soft=lambda s, t, T: ((s - t) ** 2).mean()
    ),
    "The sign of the soft loss is wrong: a divergence is never negative.": mixed(
        soft=lambda s, t, T: -right_soft(s, t, T)
    ),
    "Your softmax runs over the batch. It runs over the classes, the last axis.": mixed(
        soft=lambda s, t, T: divergence(s, t, T, T, axis=0).mean()
    ),
    "Your hard loss reads logits where log-probabilities are needed: nll_loss comes after log_softmax.": (
        lambda s, t, labels, T, alpha: float(
            alpha * T * T * right_soft(s, t, T) - (1 - alpha) * s[range(len(s)), labels].mean()
        )
    ),
    "The hard loss is a sum over the batch. Take the mean.": mixed(hard_mean="sum"),
}


def loss(case: Case, got: Any, *_: Any) -> float:
    """The loss as a number."""
    if isinstance(got, tuple):
        case.fail(f"But it returned {len(got)} things. Return one loss: alpha · soft + (1 - alpha) · hard.")
    number = one_number(case, "the loss", got)
    if number != number:
        case.fail("But the loss is nan. kl_div takes the teacher's probabilities, unless you say log_target=True.")
    return number


def examine(case: Case) -> None:
    """Random logits at several temperatures, agreement, large logits, and the gradient."""
    case.causes |= {
        '"dim"': "Softmax needs an axis: along which one are the C classes of a text?",
        "expected scalar type Long": "cross_entropy takes the logits first, then the labels.",
    }
    tries = []
    for batch, classes, T, alpha in ((4, 3, 2.0, 0.7), (3, 5, 3.0, 0.3), (6, 2, 4.0, 0.9), (2, 4, 1.5, 0.6)):
        student, teacher = 2 * case.randn(batch, classes), 3 * case.randn(batch, classes)
        labels = case.randint(0, classes, (batch,))
        tries.append(
            (f"{batch} texts, {classes} classes, T = {T} and alpha = {alpha}", student, teacher, labels, T, alpha)
        )
    advice = (
        "Compute one text by hand: both distributions at T, then the sum of p · (log p - log q), with the teacher's p."
    )
    compare(case, tries, RIGHT, MISTAKES, advice, names=("the loss",), read=loss)
    _, student, teacher, labels, _, _ = tries[0]
    same = [("a student that agrees with its teacher", teacher, teacher, labels, 2.0, 1.0)]
    compare(
        case,
        same,
        RIGHT,
        {},
        "Where both agree, the soft loss is 0. Is something added?",
        names=("the loss",),
        read=loss,
    )
    examine_large(case)
    for alpha in (1.0, 0.0):
        named: dict[str, Any] = {"teacher_logits": teacher, "labels": labels, "temperature": 2.0, "alpha": alpha}
        case.gradient_flows(student, names=("student_logits",), tried=f"4 texts with alpha = {alpha:g}", **named)
    case.close_with("Say why T: it shows what the teacher thinks of the wrong classes; at T = 1 these are nearly 0.")


def examine_large(case: Case) -> None:
    """Logits of which a probability is rounded to 0."""
    student, teacher = (
        torch.tensor([[300.0, 0, -300], [0, 300, -300]]),
        torch.tensor([[0.0, 300, -300], [0, 300, -300]]),
    )
    labels = torch.tensor([1, 1])
    got = one_number(case, "the loss", case.call(student, teacher, labels, 1.0, 0.5, tried="logits of 300 and -300"))
    case.expect(
        abs(got) < float("inf"),
        f"But the loss is {got}: a probability was rounded to 0, and its logarithm is minus infinity.",
        "Use log_softmax on both sides. (With kl_div, log_target=True or the teacher's probabilities.)",
    )
    expected = RIGHT(student, teacher, labels, 1.0, 0.5)
    case.expect(
        abs(got - expected) < 1e-2,
        f"But the loss is {got:.4g}, and should be {expected:.4g}.",
        "Is a number cut off, or something small added before the logarithm? Use log_softmax on both sides.",
    )


DRILL = Drill(
    name="distillation",
    title="The loss of distillation",
    minutes=8,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="16",
    section="DistilBERT: a student and a teacher",
    hints=(
        "Write the two parts on lines of their own. Which of them is computed at temperature T, and on which sides?",
        "soft = (p · (log p - log q)).sum(-1).mean() · T², with p the teacher's and q the student's distribution at T. "
        "hard = cross_entropy(student_logits, labels).",
    ),
    examine=examine,
)
