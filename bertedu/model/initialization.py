"""The published initialization: normal with standard deviation 0.02, truncated at two of them, biases zero.

From google-research/bert (`create_initializer`); the paper does not give it. `transformers` does not truncate.
The initialization for short runs is in `bertedu/pretraining/initialization.py`.
"""

import torch
from torch import nn


@torch.no_grad()
def initialize_as_published(model: nn.Module, deviation: float) -> None:
    """Draw every linear and embedding weight anew; LayerNorm starts as the identity, [PAD]'s vector as zeros.

    What is cut off makes them smaller: the weights' standard deviation is 0.88 times `deviation`.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.trunc_normal_(module.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding) and module.padding_idx is not None:
            module.weight[module.padding_idx].zero_()
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
