"""A start for very short runs: word vectors by counting, and three attention heads that already have a job.

The start in `initialization.py` lets a token match tokens like itself. Most of what it matches are positions, though,
and a run of 4 million tokens still learns next to nothing of the next sentence. Here each part of the input has entries
of its own in the vectors of D numbers:

    positions (D/4) | segments (D/16) | matches (D/16, empty at first) | words (the rest)

and the words begin with vectors that were counted in the training text (`word_vectors.py`). On these entries:

- layer 1, first head: a token attends to its neighbours, and takes over their word vectors. With a masked-LM head that
  begins near the identity the first guesses are those of a bag of neighbours.
- layer 1, last head: a token attends to equal words, and writes into "matches" in which segment they stand.
- layer 2, last head: a token attends to its own segment, and averages "matches". For [CLS] that is the share of the
  words of the first segment that stand in the second, too: what next sentence prediction needs first.

All of it is learned further like any other weight. On documentation, after 1.5 million tokens, the perplexity was 125
in place of 307 and the next sentence 80 % in place of 53 %. `benchmarks/README.md` has longer runs, in which
masked words are learned better from the start in `initialization.py`.
"""

import math
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from bertedu.inference import LanguageModel
from bertedu.model import BertModel
from bertedu.model.attention import SelfAttention
from bertedu.pretraining.initialization import (
    EMBEDDING_DEVIATION,
    POSITION_AMPLITUDE,
    initialize_for_matching,
    sinusoids,
)
from bertedu.pretraining.partly_counted import orthogonal, partly_counted

SEGMENT_AMPLITUDE = 0.25
NOISE = 0.3  # what is left of the random weights where a job is written over them
NEIGHBOUR_SCORE, WORD_SCORE, SEGMENT_SCORE = 4.0, 6.0, 4.0  # what a token's score with itself begins at


def blocks(hidden_size: int) -> tuple[slice, slice, slice, slice]:
    """The entries for positions, segments, matches and words."""
    edges = (0, hidden_size // 4, hidden_size * 5 // 16, hidden_size * 6 // 16, hidden_size)
    positions, segments, matches, words = (slice(start, stop) for start, stop in pairwise(edges))
    return positions, segments, matches, words


@torch.no_grad()
def initialize_by_counting(model: LanguageModel, tokens: np.ndarray) -> None:
    """Give the model this start. tokens [N]: the ids of the training text. Layers and heads without a job
    start as in `initialize_for_matching`."""
    config = model.config
    initialize_for_matching(model, torch.from_numpy(np.bincount(tokens, minlength=config.vocab_size)))
    positions, segments, matches, words = blocks(config.hidden_size)
    bert = next(module for module in model.modules() if isinstance(module, BertModel))
    fill_embeddings(bert, tokens)
    length = config.max_tokens
    sample = torch.from_numpy(tokens[: 64 * length].astype(np.int64))
    ids = sample[: len(sample) // length * length].view(-1, length)  # [B, T]
    if not len(ids):
        return  # too little text to learn from, and too little to measure scores with
    vectors = bert.embeddings(ids, torch.arange(length).ge(length // 2).long().expand_as(ids))  # [B, T, D]
    first, *others = (module for module in model.modules() if isinstance(module, SelfAttention))
    attend_to_like(first, 0, vectors, positions, NEIGHBOUR_SCORE)
    carry(first, 0, words, words)
    attend_to_like(first, -1, vectors, words, WORD_SCORE)
    first.output.weight[matches] = 0
    carry(first, -1, segments, matches)
    if others:
        after_first = bert.encoder(vectors)[0][1]  # [B, T, D]
        attend_to_like(others[0], -1, after_first, segments, SEGMENT_SCORE)
        carry(others[0], -1, matches, matches)
    transform = model.get_parameter("masked_lm.dense.weight")
    transform.mul_(NOISE).add_(torch.eye(len(transform)))


def fill_embeddings(bert: BertModel, tokens: np.ndarray) -> None:
    """Words, positions and segments, each in entries of its own."""
    embeddings, config = bert.embeddings, bert.config
    positions, segments, _, words = blocks(config.hidden_size)
    table = embeddings.token.weight.zero_()
    counted = partly_counted(tokens, config.vocab_size, words.stop - words.start)
    table[:, words] = EMBEDDING_DEVIATION * math.sqrt(config.hidden_size) * counted
    table[config.pad_token_id] = 0
    embeddings.position.weight.zero_()
    amplitudes = sinusoids(config.max_position_embeddings, positions.stop)
    embeddings.position.weight[:, positions] = POSITION_AMPLITUDE * amplitudes
    signs = 1.0 - 2.0 * (torch.arange(embeddings.token_type.num_embeddings) % 2)  # the first segment +, the second -
    embeddings.token_type.weight.zero_()
    embeddings.token_type.weight[:, segments] = SEGMENT_AMPLITUDE * signs[:, None]


def head_rows(attention: SelfAttention, head: int) -> slice:
    """The rows of the projections that belong to one head."""
    size = attention.query.out_features // attention.num_heads
    start = head % attention.num_heads * size
    return slice(start, start + size)


def attend_to_like(attention: SelfAttention, head: int, vectors: Tensor, part: slice, score: float) -> None:
    """Let a head compare tokens by some entries of their vectors [B, T, D]: query and key weights are equal, and a
    token's score with itself is `score` on average."""
    rows = head_rows(attention, head)
    size = rows.stop - rows.start
    weight = torch.zeros(size, vectors.size(-1))
    weight[:, part] = orthogonal(size, part.stop - part.start)
    mean = (vectors @ weight.T).square().sum(dim=-1).mean() / math.sqrt(size)
    attention.query.weight[rows] = attention.key.weight[rows] = weight * (score / mean).sqrt()


def carry(attention: SelfAttention, head: int, source: slice, target: slice) -> None:
    """Let a head bring some entries of the tokens it attends to into as many other entries of the result."""
    rows, size = head_rows(attention, head), source.stop - source.start
    way = orthogonal(rows.stop - rows.start, size)
    attention.value.weight[rows] *= NOISE
    attention.value.weight[rows, source] += way
    attention.output.weight[:, rows] *= NOISE
    attention.output.weight[target, rows] += way.T
