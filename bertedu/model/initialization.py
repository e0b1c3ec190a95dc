"""The published initialization: normal with standard deviation 0.02, truncated at two of them, biases zero.

From google-research/bert (`create_initializer`); the paper does not give it. `transformers` does not truncate.
The initialization for short runs is in `bertedu/pretraining/initialization.py`.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class MatchingWeights:
    """What the initialization for short runs sets in an encoder: weights, or parts of weights that share their memory.

    query, key: of layer 1, whose weights no other layer has, [D, D]. tables: the embeddings that are drawn, tokens
    first, [V, E] and so on. positions: the embeddings of a text's first position, its second and so on, [T, E].
    """

    query: Tensor
    key: Tensor
    tables: tuple[Tensor, ...]
    positions: Tensor


@torch.no_grad()
def initialize_as_published(model: nn.Module, deviation: float) -> None:
    """Draw every linear and embedding weight anew; LayerNorm starts as the identity, [PAD]'s vector as zeros.

    What is cut off makes them smaller: the weights' standard deviation is 0.88 times `deviation`.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            draw(module.weight, deviation)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
        if isinstance(module, nn.Linear | nn.LayerNorm) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            module.weight[module.padding_idx].zero_()


def draw(weight: Tensor, deviation: float) -> None:
    """Draw a weight anew from the normal distribution, truncated at two standard deviations."""
    nn.init.trunc_normal_(weight, std=deviation, a=-2 * deviation, b=2 * deviation)
