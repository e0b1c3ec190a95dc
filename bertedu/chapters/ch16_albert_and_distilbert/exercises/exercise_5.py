"""Exercise 16.5: Repair the loss."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div

from bertedu.chapters.ch16_albert_and_distilbert.exercises.shared import (
    AXIS,
    divergence,
    not_a_number,
    one_number,
)
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


@exercise(
    "16.5",
    "Repair the loss",
    difficulty=2,
    minutes=8,
    hints=(
        "How does the gradient of the KL change with T, and how that of the cross-entropy with the labels? See "
        "“Why times T²?”.",
        "Multiply the soft part by T**2, and only the soft part.",
    ),
)
def repair_the_loss(case: Case) -> None:
    """T = 3, where each mistake gives another number; then T = 1, labels that don't count, and the gradient."""
    case.causes['"dim"'] = AXIS
    case.causes["out of bounds"] = (
        "Labels of −100 mark tokens that were not masked: torch's cross_entropy leaves them out."
    )
    student, teacher = 2 * case.randn(6, 7), 2 * case.randn(6, 7)
    labels = torch.tensor([3, -100, -100, 0, -100, 6])
    tried = "6 tokens, 3 of them masked, with T = 3"
    got = one_number(case, case.call(student, teacher, labels, 3.0, tried=tried))
    not_a_number(case, got)
    soft, hard = divergence(student, teacher, 3, 3).mean(), cross_entropy(student, labels)
    if is_close(got, 5 * soft + 2 * hard, 1e-4):
        case.fail(
            "But that is her loss: nothing has changed. By the rule 1/T² the gradient of its soft part is 9 times "
            "smaller at T = 3 than at T = 1, and that of the other part is not."
        )
    case.close(
        "the loss",
        got,
        5 * soft * 9 + 2 * hard,
        "Keep 5 · soft + 2 · hard, and change only what makes the soft part lose its weight.",
        mistakes=repair_mistakes(student, teacher, labels),
        tolerance=1e-4,
    )
    got = one_number(case, case.call(student, teacher, labels, 1.0, tried="the same tokens with T = 1"))
    sharp = kl_div(student.log_softmax(-1), teacher.log_softmax(-1), log_target=True, reduction="batchmean")
    case.close("the loss", got, 5 * sharp + 2 * hard, "At T = 1 her loss was right.", tolerance=1e-4)
    rest: dict[str, Any] = {"teacher": teacher, "labels": labels, "T": 2.0}
    case.gradient_flows(student, names=("the student's logits",), tried="the same tokens with T = 2", **rest)


def repair_mistakes(student: Tensor, teacher: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """What known mistakes give at T = 3, by the sentence for each."""
    soft, hard = divergence(student, teacher, 3, 3).mean(), cross_entropy(student, labels)
    return {
        "You multiplied by T. The gradient shrinks with T twice: once by the chain rule, and once because both "
        "distributions come closer.": 5 * soft * 3 + 2 * hard,
        "You multiplied both parts. Then their relation is as wrong as before: the hard part has no temperature.": (
            9 * (5 * soft + 2 * hard)
        ),
        "You multiplied the hard part. Which of the two became too weak?": 5 * soft + 2 * hard * 9,
        "You divided by T². The soft part is too weak already.": 5 * soft / 9 + 2 * hard,
        "You divided the hard part by T². That repairs the relation, but now both parts shrink as T grows: "
        "multiply the soft part instead.": 5 * soft + 2 * hard / 9,
        "The labels are scored at the temperature, too. A label has no temperature: the hard part takes the logits "
        "as they are.": 5 * soft * 9 + 2 * cross_entropy(student / 3, labels),
        "Only the soft part came back. The labels count as well.": 5 * soft * 9,
        "The temperature is gone: you compute the KL at T = 1.": (
            5 * divergence(student, teacher, 1, 1).mean() + 2 * hard
        ),
        "The temperature of the KL is gone, and the factor stayed.": (
            5 * divergence(student, teacher, 1, 1).mean() * 9 + 2 * hard
        ),
        "The temperature is on the student's side only. Both need it.": (
            5 * divergence(student, teacher, 3, 1).mean() * 9 + 2 * hard
        ),
        "The KL has its two sides swapped. kl_div takes the student first.": (
            5 * divergence(teacher, student, 3, 3).mean() * 9 + 2 * hard
        ),
        "The KL is averaged over the words, too: say reduction='batchmean'.": 5 * soft * 9 / 7 + 2 * hard,
        "The weights are swapped: the soft part has 5, the hard part 2.": 2 * soft * 9 + 5 * hard,
        "Your soft part is a sum over the tokens. Her KL is a mean over them.": 5 * len(labels) * soft * 9 + 2 * hard,
        "You multiplied by T² twice.": 5 * soft * 81 + 2 * hard,
        "You divided the hard part by T. The relation has to change by T², and in the soft part.": (
            5 * soft + 2 * hard / 3
        ),
        "The weights 5 and 2 are missing.": soft * 9 + hard,
        "That is the cross-entropy with the soft targets. It would train the same student, but the loss has "
        "another value. Keep her KL.": 5 * 9 * cross_entropy(student / 3, (teacher / 3).softmax(-1)) + 2 * hard,
        "Your soft part reads the masked tokens only. The teacher has something to say about all N.": (
            5 * 9 * divergence(student, teacher, 3, 3)[labels != -100].mean() + 2 * hard
        ),
        "That is right only for T = 2, where T² is 4. Use the argument.": 5 * soft * 4 + 2 * hard,
    }
