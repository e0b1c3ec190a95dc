"""Exercises 16.3 and 16.5: the soft loss with padding, and a loss that forgot T². The others are in chapter_16.py."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise

AXIS = "Softmax needs an axis: along which one are the V scores of a token?"


def divergence(student: Tensor, teacher: Tensor, of_student: float, of_teacher: float) -> Tensor:
    """KL(teacher ‖ student) for each token, [..., V] to [...], each side with its own temperature."""
    s, t = (student / of_student).log_softmax(dim=-1), (teacher / of_teacher).log_softmax(dim=-1)
    return (t.exp() * (t - s)).sum(dim=-1)


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
    student_learns(case, student, teacher, mask)


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


def student_learns(case: Case, student: Tensor, *others: Tensor) -> None:
    """Not yet, unless a gradient reaches the student's logits; the inputs are given by position."""
    case.refuse_in_place()
    case.begin(f"I called {case.name} with T = 2 and asked for the gradient of the student's logits.", "gradients")
    leaf = student.clone().requires_grad_()
    loss = case.protected(case.answer, leaf.clone(), *(other.clone() for other in others), 2.0)
    if not loss.requires_grad:
        case.fail(
            "But the result is cut off from its inputs, and a student that learns needs the gradient.",
            "Is there a `.detach()`, `.data`, `.item()` or `torch.no_grad()` on the student's way?",
        )
    (gradient,) = torch.autograd.grad(loss.sum(), leaf, allow_unused=True)
    if gradient is None or not bool((gradient != 0).any()):
        case.fail("But no gradient reaches the student's logits: are they detached or rounded on the way?")


def not_a_number(case: Case, got: Tensor) -> None:
    """Not yet, where torch's kl_div took the logarithm of a logarithm."""
    if bool(torch.isnan(got)):
        case.fail(
            "But the loss is nan: somewhere the logarithm of a negative number was taken. If you use kl_div: it "
            "expects the teacher as probabilities, unless you say log_target=True."
        )


def one_number(case: Case, got: object) -> Tensor:
    """The loss as a tensor without axes."""
    if isinstance(got, float | int):
        case.fail(
            "But it returned a plain number: nothing can be learned from that. Return the tensor, without .item()."
        )
    case.is_a("the loss", got, Tensor, "a tensor with one number")
    assert isinstance(got, Tensor)
    if got.numel() != 1:
        case.fail(
            f"But the loss has the shape {list(got.shape)}, and one number is asked for.",
            "Sum over the words, then take the mean over the real tokens.",
        )
    return got.reshape(())


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
    student_learns(case, student, teacher, labels)


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
