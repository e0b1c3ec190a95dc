"""An initialization for short runs: the model can match words and look around itself from the first step.

With the published initialization a small BERT first sits on a plateau, where it guesses by frequency alone, until
attention happens to find something worth attending to. In a run of minutes that waiting decides the result.
This initialization takes most of it away: in the first layer key weights equal to the query weights (a token attends
to tokens like itself and near to itself), sinusoidal positions (Vaswani et al. 2017, section 3.5) with wavelengths
for short texts and 1.4 times the norm of the words' vectors, linear layers with standard deviation 1/√fan-in, and a
decoder whose bias already knows how frequent each word is.

Higher layers are left free: begun like the first, they too may settle on neighbours, and never find the word far
off that tells the answer. Whether they do was a matter of the seed, and of twenty points in facts recalled.
"""

import math

import torch
from torch import Tensor

from bertedu.inference import LanguageModel
from bertedu.model.attention import SelfAttention
from bertedu.model.embeddings import BertEmbeddings

EMBEDDING_DEVIATION = 0.05
POSITION_AMPLITUDE = 0.1
SLOWEST = 30.0  # the slowest wave turns by 1/30 a token; 1/10,000 in the original, made for longer texts
MATCHING_SCALE = 0.7  # below 1: a token must not see itself alone


def sinusoids(positions: int, size: int) -> Tensor:
    """Sines and cosines of falling frequency, [positions, size], entries between -1 and 1."""
    angles = torch.arange(positions)[:, None] * torch.exp(-math.log(SLOWEST) * torch.arange(0, size, 2) / size)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :size]


@torch.no_grad()
def initialize_for_matching(model: LanguageModel, token_counts: Tensor) -> None:
    """Give the model this start. token_counts [V]: how often each id stands in the training text."""
    embeddings = next(module for module in model.modules() if isinstance(module, BertEmbeddings))
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):  # the decoder is none: its weight is the table of embeddings
            torch.nn.init.normal_(module.weight, std=1 / math.sqrt(module.in_features))
    first = next(module for module in model.modules() if isinstance(module, SelfAttention))
    first.query.weight.mul_(MATCHING_SCALE)
    first.key.weight.copy_(first.query.weight)
    torch.nn.init.normal_(embeddings.token.weight, std=EMBEDDING_DEVIATION)
    torch.nn.init.normal_(embeddings.token_type.weight, std=EMBEDDING_DEVIATION)
    embeddings.position.weight.copy_(POSITION_AMPLITUDE * sinusoids(*embeddings.position.weight.shape))
    embeddings.token.weight[model.config.pad_token_id].zero_()
    if not hasattr(model, "masked_lm"):  # ELECTRA's discriminator
        return
    frequency = (token_counts.float() + 1) / (token_counts.sum() + len(token_counts))
    model.get_parameter("masked_lm.decoder.bias").copy_(frequency.log())
