"""What several exercises of chapter 16 share."""

import torch
from torch import Tensor

from bertedu.course.case import Case

AXIS = "Softmax needs an axis: along which one are the V scores of a token?"


def divergence(student: Tensor, teacher: Tensor, of_student: float, of_teacher: float) -> Tensor:
    """KL(teacher ‖ student) for each token, [..., V] to [...], each side with its own temperature."""
    s, t = (student / of_student).log_softmax(dim=-1), (teacher / of_teacher).log_softmax(dim=-1)
    return (t.exp() * (t - s)).sum(dim=-1)


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
