"""How fast each weight of a pre-trained model learns: freezing, layer-wise rates, gradual unfreezing.

Howard & Ruder 2018 (ULMFiT, sections 3.2 and 3.3): lower layers learn more slowly and later. How deep a weight lies the
model says: from 0 (embeddings) over 1 to L (encoder layers) to L + 1 (the pooler and the head).
"""

from bertedu.finetuning.settings import FinetuningSettings
from bertedu.model.pretrained import PretrainedModel
from bertedu.training.optimization import Pace


def freeze_encoder(model: PretrainedModel) -> None:
    """Let nothing but the head learn: the encoder becomes a fixed reader of features (Devlin et al. 2019, section 5.3).

    The pooler stays free, since it is part of the way from the vectors to the classes.
    """
    for name, parameter in model.named_parameters():
        if model.depth(name) <= model.config.num_hidden_layers:
            parameter.requires_grad_(False)


def pace(settings: FinetuningSettings, model: PretrainedModel) -> Pace:
    """For each weight of a model, by its name, its share of the learning rate, and of the run before it starts."""
    return lambda name: pace_at(settings, model.depth(name), model.config.num_hidden_layers)


def pace_at(settings: FinetuningSettings, depth: int, layers: int) -> tuple[float, float]:
    """The share of the learning rate at a depth, and the share of the run when it starts.

    Layer l of L learns at layer_decay^(L + 1 - l) of the learning rate, the head at head_rate times it. With
    unfreeze_over the head starts at once and the layers one after the other from the top, the embeddings last,
    when that share of the run is over.
    """
    below = layers + 1 - depth  # 0 for the head
    scale = settings.layer_decay**below if below else settings.head_rate
    return scale, settings.unfreeze_over * below / (layers + 1)
