"""Distillation for a task: the loss of a student."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from bertedu.errors import UserError
from bertedu.production.distilling import task_distillation_loss

STUDENT = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]])
TEACHER = torch.tensor([[0.2, 1.0, -0.5], [2.0, 2.5, 0.0]])
LABELS = torch.tensor([1, 0])


def test_the_soft_part_is_the_divergence_by_hand_times_its_square():
    """By hand: Σ p (ln p - ln q) of both distributions softened by T, times T²."""
    for temperature in (1.0, 2.0, 4.0):
        ours, theirs = ((one / temperature).softmax(dim=-1) for one in (STUDENT, TEACHER))
        right = (theirs * (theirs.log() - ours.log())).sum() * temperature**2
        found = task_distillation_loss(STUDENT, TEACHER, LABELS, temperature, soft=1.0)
        assert torch.isclose(found, right, rtol=1e-5)


def test_the_right_answers_get_their_share():
    alone = cross_entropy(STUDENT, LABELS, reduction="sum")
    soft = task_distillation_loss(STUDENT, TEACHER, LABELS, soft=1.0)
    assert torch.isclose(task_distillation_loss(STUDENT, TEACHER, LABELS, soft=0.0), alone)
    assert torch.isclose(task_distillation_loss(STUDENT, TEACHER, LABELS, soft=0.25), 0.25 * soft + 0.75 * alone)


def test_the_gradient_of_the_soft_part_keeps_its_size_at_any_temperature():
    sizes = []
    for temperature in (10.0, 20.0):
        student = STUDENT.clone().requires_grad_()
        task_distillation_loss(student, TEACHER, LABELS, temperature, soft=1.0).backward()
        sizes.append(float(student.grad.norm()))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.05)  # without T² it would be a quarter


def test_the_teacher_does_not_learn():
    teacher = TEACHER.clone().requires_grad_()
    student = STUDENT.clone().requires_grad_()
    task_distillation_loss(student, teacher, LABELS).backward()
    assert teacher.grad is None and student.grad is not None


@pytest.mark.parametrize("wrong", [{"temperature": 0.0}, {"temperature": -1.0}, {"soft": 1.5}, {"soft": -0.1}])
def test_a_wrong_setting_is_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        task_distillation_loss(STUDENT, TEACHER, LABELS, **wrong)
