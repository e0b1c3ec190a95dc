"""How weights start, as published: normal with standard deviation 0.02, cut at two of them, biases zero.

Devlin et al. 2019 and google-research/bert (`create_initializer`). `transformers` does not cut.
The start that short runs use instead stands in `bertedu/pretraining/initialization.py`.
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
