"""Distillation for a task: a small classifier learns what a fine-tuned one says of a text, beside the right answer.

Hinton et al. 2015, section 2. (Distillation in pre-training, DistilBERT's, is in `pretraining.objectives`.)
Shapes: B batch, C classes.
"""

from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.errors import UserError
from bertedu.training.soft_targets import TEMPERATURE, soft_divergence


def task_distillation_loss(
    student: Tensor, teacher: Tensor, labels: Tensor, temperature: float = TEMPERATURE, soft: float = 0.5
) -> Tensor:
    """soft · T² · KL(teacher ‖ student) at the temperature T + (1 - soft) · cross-entropy, summed over the texts.

    student and teacher are logits [B, C], labels [B]. The T² keeps the size of the soft part's gradient, which else
    shrinks as 1 / T², so that `soft` means the same at every temperature. Raises UserError for a temperature that is
    not above 0, and for a share that is not from 0 to 1.
    """
    if not temperature > 0:
        raise UserError(f"temperature is {temperature!r}: give a number above 0, such as 2.")
    if not 0 <= soft <= 1:
        raise UserError(f"soft is {soft!r}: give the share of the teacher's part, from 0 to 1.")
    taught = soft_divergence(student, teacher.detach(), temperature) * temperature**2
    return soft * taught + (1 - soft) * cross_entropy(student.float(), labels, reduction="sum")
