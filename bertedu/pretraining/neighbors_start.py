"""An initialization for short runs of BERT: two heads of the first layer attend to the previous and to the next token.

The best hints at a masked word are its two neighbors, and a BERT with random weights has to find them first. Here it
knows where they are from the first step, because position embeddings that are sinusoids make this easy (Vaswani et al.
2017, section 3.5): a wave of frequency w puts position i at the angle w · i of a circle, so the vector of position i +
k is that of position i, rotated by w · k for each wave. A head whose queries are rotated by one position, and whose
keys are not, scores a key highest where it stands one position further on:

    query(i) · key(j) = Σ cos(w · (j - i - k)), which is largest for j = i + k

With slow waves alone the top of that sum is so wide that the head can't tell the next token from the one after it. So
the waves are faster here than in `initialization.py`, up to 2.5 radians a token.

The words begin with vectors that were counted in the training text (`word_vectors.py`): words that stand between the
same neighbors are alike from the first step. All else starts as in `initialization.py`, and everything is learned
further.
"""

import math

import numpy as np
import torch
from torch import Tensor

from bertedu.inference import LanguageModel
from bertedu.model import BertModel
from bertedu.model.attention import SelfAttention
from bertedu.pretraining.initialization import (
    EMBEDDING_DEVIATION,
    POSITION_AMPLITUDE,
    frequencies,
    initialize_for_matching,
    sinusoids,
)
from bertedu.pretraining.partly_counted import partly_counted

FASTEST = 2.5
NEIGHBOR_SCORE = 4.0  # attention score of the neighbor; with 8 it is found as well, and pairs are learned later


@torch.no_grad()
def initialize_for_neighbors(model: LanguageModel, tokens: np.ndarray) -> None:
    """Give a BERT this start. tokens [N]: the ids of the training text.

    Further heads, and the other layers, start as in `initialize_for_matching`.
    """
    config = model.config
    initialize_for_matching(model, torch.from_numpy(np.bincount(tokens, minlength=config.vocab_size)))
    bert = next(module for module in model.modules() if isinstance(module, BertModel))
    counted = partly_counted(tokens, config.vocab_size, config.hidden_size)
    bert.embeddings.token.weight.copy_(EMBEDDING_DEVIATION * math.sqrt(config.hidden_size) * counted)
    bert.embeddings.token.weight[config.pad_token_id] = 0
    positions = bert.embeddings.position.weight
    positions.copy_(POSITION_AMPLITUDE * sinusoids(positions.size(0), positions.size(1), FASTEST))
    tables = (bert.embeddings.token.weight, bert.embeddings.token_type.weight, positions)
    norm = math.sqrt(sum(float(table.var(dim=1, correction=0).mean()) for table in tables))  # what LayerNorm divides by
    first = next(module for module in bert.modules() if isinstance(module, SelfAttention))
    size = first.query.out_features // first.num_heads
    # All size / 2 waves of the head are in step where j = i + k: query · key / √size is then the score.
    scale = math.sqrt(2 * NEIGHBOR_SCORE / math.sqrt(size)) * norm / POSITION_AMPLITUDE
    for head, distance in enumerate((-1, 1)):
        rows = slice(head * size, (head + 1) * size)
        first.key.weight[rows] = scale * torch.eye(size, positions.size(1))
        first.query.weight[rows] = scale * rotated(size, positions.size(1), distance)


def rotated(size: int, width: int, distance: int) -> Tensor:
    """The matrix that takes the first `size` entries of position i to those of position i + distance: [size, width]."""
    matrix = torch.zeros(size, width)
    for wave, angle in enumerate((distance * frequencies(width, FASTEST)[: size // 2]).tolist()):
        pair = slice(2 * wave, 2 * wave + 2)  # sine and cosine
        matrix[pair, pair] = torch.tensor([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return matrix
