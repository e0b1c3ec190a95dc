"""An initialization for short runs: the model can match words and look around itself from the first step.

With the published initialization a small BERT first sits on a plateau, where it guesses by frequency alone, until
attention happens to find something worth attending to. In a run of minutes that waiting decides the result.
This initialization takes most of it away: in the first layer key weights equal to the query weights (a token attends
to tokens like itself and near to itself), sinusoidal positions (Vaswani et al. 2017, section 3.5) with wavelengths
for short texts and 1.4 times the norm of the words' vectors, linear layers with standard deviation 1/√fan-in, and a
decoder whose bias already knows how frequent each word is.

It is for members that add learned positions to the vectors (so queries equal to keys find what is near) and whose first
layer has weights of its own: BERT, RoBERTa, XLM-R, DistilBERT, ELECTRA. In DeBERTa, ModernBERT and XLNet positions are
no part of a vector, and in ALBERT the first layer is every layer: these start as published.

Higher layers are left free: begun like the first, they too may settle on neighbours, and never find the word far
off that tells the answer. Whether they do was a matter of the seed, and of twenty points in facts recalled.
"""

import math

import torch
from torch import Tensor

from bertedu.errors import UserError
from bertedu.inference import LanguageModel
from bertedu.model.architecture import architecture

EMBEDDING_DEVIATION = 0.05
POSITION_AMPLITUDE = 0.1
SLOWEST = 30.0  # the slowest wave turns by 1/30 a token; 1/10,000 in the original, made for longer texts
MATCHING_SCALE = 0.7  # below 1: a token must not see itself alone


def frequencies(size: int, fastest: float = 1.0) -> Tensor:
    """The waves of vectors with `size` entries, in radians a token, falling from `fastest` towards 1/30: [size / 2]."""
    return fastest * torch.exp(-math.log(fastest * SLOWEST) * torch.arange(0, size, 2) / size)


def sinusoids(positions: int, size: int, fastest: float = 1.0) -> Tensor:
    """Sines and cosines of falling frequency, [positions, size], entries between -1 and 1."""
    angles = torch.arange(positions)[:, None] * frequencies(size, fastest)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :size]


@torch.no_grad()
def initialize_for_matching(model: LanguageModel, token_counts: Tensor) -> None:
    """Give the model this start. token_counts [V]: how often each id stands in the training text.

    Raises UserError for a member for which it means nothing.
    """
    member = architecture(model.config.model_type)
    if member.matching is None:
        raise UserError(
            f"{member.name} cannot start by matching: its positions are no part of the vectors, or its first layer has "
            "no weights of its own. Take the initialization published."
        )
    weights = member.matching(getattr(model, model.encoder_name))
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):  # the decoder is none: its weight is the table of embeddings
            torch.nn.init.normal_(module.weight, std=1 / math.sqrt(module.in_features))
    weights.query.mul_(MATCHING_SCALE)
    weights.key.copy_(weights.query)
    for table in weights.tables:
        torch.nn.init.normal_(table, std=EMBEDDING_DEVIATION)
    weights.positions.copy_(POSITION_AMPLITUDE * sinusoids(*weights.positions.shape))
    weights.tables[0][model.config.pad_token_id].zero_()
    if not hasattr(model, "masked_lm"):  # ELECTRA's discriminator
        return
    frequency = (token_counts.float() + 1) / (token_counts.sum() + len(token_counts))
    model.get_parameter("masked_lm.decoder.bias").copy_(frequency.log())
