"""Scores of all words, and their loss, a chunk of the tokens at a time: the scores are never there all at once.

For 5,000 masked tokens and 30,522 words the scores take 0.6 GB in float32, and cross-entropy keeps them, their softmax
and their gradient. But from a chunk's scores its loss follows and, since that is all they are for, the gradients of the
vectors and the table too. So these are computed in the forward pass, and the scores of the next chunk take the same
memory; nothing is computed twice. (The way of Liger Kernel's FusedLinearCrossEntropy: Hsu et al. 2024, section 3.)

Shapes: N labelled tokens, D hidden size, V words.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from bertedu.model.heads import IGNORED, TiedDecoder

MOST_SCORES = 2**26  # in a chunk: 256 MB in float32


class LossInChunks(torch.autograd.Function):
    """The summed cross-entropy of vectors [N, D] and labels [N], and how many are right. Labels that are IGNORED count
    as nothing. Autocast decides in which numbers the products compute.
    """

    @staticmethod
    def forward(
        ctx: Any, vectors: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, rows: int
    ) -> tuple[Tensor, Tensor]:
        """Chunk by chunk: scores, loss, and the gradient of the scores, softmax minus one at the right word."""
        dtype = vectors.dtype
        if torch.is_autocast_enabled(vectors.device.type):
            dtype = torch.get_autocast_dtype(vectors.device.type)
        table, biases = weight.to(dtype), bias.to(dtype)
        of_vectors = torch.empty_like(vectors)
        of_table, of_bias = torch.zeros_like(weight, dtype=torch.float32), torch.zeros_like(bias, dtype=torch.float32)
        loss, hits = torch.zeros((), device=vectors.device), torch.zeros((), dtype=torch.long, device=vectors.device)
        for start in range(0, len(vectors), rows):
            some, right = vectors[start : start + rows].to(dtype), labels[start : start + rows]
            scores = linear(some, table, biases).float()  # [rows, V]
            hits += (scores.argmax(dim=-1) == right).sum()
            counted, places = (right != IGNORED)[:, None], right.clamp_min(0)[:, None]
            logs = scores.log_softmax(dim=-1)
            loss -= (logs.gather(1, places) * counted).sum()
            slopes = logs.exp_().scatter_add_(1, places, -torch.ones_like(places, dtype=logs.dtype)).mul_(counted)
            of_bias += slopes.sum(dim=0)
            slopes = slopes.to(dtype)
            of_vectors[start : start + rows] = slopes @ table
            of_table += slopes.T @ some
        ctx.save_for_backward(of_vectors, of_table.to(weight.dtype), of_bias.to(bias.dtype))
        ctx.mark_non_differentiable(hits)
        return loss, hits

    @staticmethod
    def backward(ctx: Any, of_loss: Tensor, of_hits: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        """What the loss is divided by, or scaled with, comes in here."""
        of_vectors, of_table, of_bias = ctx.saved_tensors
        scale = of_loss.to(of_vectors.dtype)
        return of_vectors * scale, of_table * of_loss, of_bias * of_loss, None, None


@dataclass
class ScoresToCome:
    """What a decoder answers inside of `scoring_in_chunks`, in place of scores [N, V]."""

    vectors: Tensor  # [N, D]
    decoder: TiedDecoder

    def loss_and_hits(self, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The summed cross-entropy with labels [N], and how many of the likeliest words are right."""
        rows = max(1, MOST_SCORES // len(self.decoder.weight))
        return LossInChunks.apply(self.vectors, self.decoder.weight, self.decoder.bias, labels, rows)


def loss_and_hits(scores: Tensor | ScoresToCome, right: Tensor) -> tuple[Tensor, Tensor]:
    """The summed cross-entropy of scores [N, V], there or still to come, and how many of the likeliest words are right.

    right [N]: the ids, IGNORED where nothing is counted.
    """
    if isinstance(scores, ScoresToCome):
        return scores.loss_and_hits(right)
    scores = scores.float()
    return cross_entropy(scores, right, reduction="sum"), (scores.argmax(dim=-1) == right).sum()


class PostponingDecoder(TiedDecoder):
    """In training, a decoder that leaves the scores to those who know the labels."""

    def forward(self, vectors: Tensor) -> Any:
        """ScoresToCome for vectors [N, D]; scores as before outside of training, and for whole texts [B, T, D]."""
        return ScoresToCome(vectors, self) if self.training and vectors.dim() == 2 else super().forward(vectors)


@contextmanager
def scoring_in_chunks(model: nn.Module) -> Iterator[None]:
    """Inside the block the model's decoders postpone their scores. Its weights and their names stay."""
    decoders = [module for module in model.modules() if type(module) is TiedDecoder]
    for decoder in decoders:
        decoder.__class__ = PostponingDecoder
    try:
        yield
    finally:
        for decoder in decoders:
            decoder.__class__ = TiedDecoder
