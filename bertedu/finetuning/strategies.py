"""How fast each weight of a pre-trained model learns: freezing, layer-wise rates, gradual unfreezing.

Howard & Ruder 2018 (ULMFiT, sections 3.2 and 3.3): lower layers learn more slowly and later. The numbers of layers
run from 0 (embeddings) over 1 to L (encoder layers) to L + 1 (the pooler and the head).
"""

import re

from torch import nn

from bertedu.finetuning.settings import FinetuningSettings
from bertedu.training.optimization import Pace

LAYER = re.compile(r"bert\.encoder\.layers\.(\d+)\.")


def depth(name: str, layers: int) -> int:
    """Where a weight stands by its name: 0 embeddings, 1 to L the encoder's layers, L + 1 the pooler and the head."""
    if match := LAYER.match(name):
        return 1 + int(match[1])
    return 0 if name.startswith("bert.embeddings.") else layers + 1


def freeze_encoder(model: nn.Module) -> None:
    """Let nothing but the head learn: BERT becomes a fixed reader of features (Devlin et al. 2019, section 5.3).

    The pooler stays free, since it is part of the way from the vectors to the classes.
    """
    for name, parameter in model.named_parameters():
        if name.startswith(("bert.embeddings.", "bert.encoder.")):
            parameter.requires_grad_(False)


def pace(settings: FinetuningSettings, layers: int) -> Pace:
    """For each weight, by its name, its share of the learning rate and the share of the run when it starts.

    Layer l of L learns at layer_decay^(L + 1 - l) of the rate, the head at head_rate times the rate. With
    unfreeze_over the head starts at once and the layers one after the other from the top, the embeddings last,
    when that share of the run is over.
    """

    def of(name: str) -> tuple[float, float]:
        below = layers + 1 - depth(name, layers)  # 0 for the head
        scale = settings.layer_decay**below if below else settings.head_rate
        return scale, settings.unfreeze_over * below / (layers + 1)

    return of
