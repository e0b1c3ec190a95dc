"""Batches in few shapes, for a device that runs ahead of the processor, as a GPU does.

While a GPU computes, Python asks for more. Three things make Python wait, or work slower: a shape that depends on
numbers that the GPU has still to compute (at which tokens is there a label?), a length that its kernels have no good
version for, and an attention mask that hides nothing, with which attention cannot be torch's fastest kernel (Flash
attention takes no mask). All three are settled here, on the CPU, before a batch is sent over: none changes the loss.

Shapes: B batch, T tokens, M the most tokens of a row that are masked.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from bertedu.model.heads import IGNORED

MULTIPLE = 8  # what the units for products and attention's kernels with a bias like


def rounded_up(length: int, most: int) -> int:
    """The next multiple of 8, or `most` where that is less."""
    return min(-(-length // MULTIPLE) * MULTIPLE, most)


def widened(batch: dict[str, Tensor], length: int, pad_token_id: int) -> dict[str, Tensor]:
    """The batch with padding on the right up to a length: its tensors [B, T] get that many columns."""
    fill = {"input_ids": pad_token_id, "labels": IGNORED}  # 0 in all others
    more = length - batch["input_ids"].size(1)
    return {
        name: pad(tensor, (0, more), value=fill.get(name, 0)) if tensor.dim() == 2 and more > 0 else tensor
        for name, tensor in batch.items()
    }


def positions_of(labels: Tensor, number: int) -> Tensor:
    """The positions of the labelled tokens of each row in reading order, and then others, up to the number: [B, M].

    The others are spare: they have no label, and so no part in the loss.
    """
    return (labels == IGNORED).long().argsort(dim=1, stable=True)[:, :number]


def without_idle_mask(batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The batch without its attention_mask where that hides nothing."""
    return {
        name: tensor for name, tensor in batch.items() if name != "attention_mask" or not bool(torch.all(tensor == 1))
    }
