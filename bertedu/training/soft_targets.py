"""Soft targets: learning what another model says, not only what is right. Hinton et al. 2015, section 2.

Shapes: N predictions, V classes or words.
"""

from torch import Tensor
from torch.nn.functional import kl_div

TEMPERATURE = 2.0


def soft_divergence(student: Tensor, teacher: Tensor, temperature: float = TEMPERATURE) -> Tensor:
    """How far the student's softened predictions are from the teacher's: KL(teacher ‖ student) in nats, summed over N
    tokens. Both are logits [N, V], divided by the temperature, so that unlikely words count for more.

    Its gradient with regard to the logits shrinks as 1/T². Where it is mixed with other losses it is multiplied by T²
    (Hinton et al. 2015, section 2).
    """
    theirs, ours = ((logits.float() / temperature).log_softmax(dim=-1) for logits in (teacher, student))
    return kl_div(ours, theirs, reduction="sum", log_target=True)
