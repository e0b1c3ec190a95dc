"""Masking: which tokens the model must guess, and what it sees in their place. Built by hand in notebook 06.

Devlin et al. 2019, section 3.1 and appendix A.1; google-research/bert (`create_masked_lm_predictions`).
Shapes: B batch, T tokens.
"""

import torch
from torch import Tensor

from bertedu.model.heads import IGNORED


def choose_tokens(candidates: Tensor, number: Tensor, generator: torch.Generator) -> Tensor:
    """Pick number[b] of the candidates in each row, all equally likely: [B, T] and [B] to booleans [B, T]."""
    keys = torch.rand(candidates.shape, generator=generator).masked_fill(~candidates, 2.0)
    rank = keys.argsort(dim=1).argsort(dim=1)  # each token's place in a random order, candidates first
    return (rank < number[:, None]) & candidates


def choose_words(candidates: Tensor, continuation: Tensor, number: Tensor, generator: torch.Generator) -> Tensor:
    """As choose_tokens, but all pieces of a word or none; a word that would exceed the number is passed over.

    continuation [B, T] is true for pieces that go on a word ("##ing"). Where truncation cut a word at the front
    of a segment, what is left of it counts as a word.
    """
    chosen = torch.zeros_like(candidates)
    starts = candidates & ~continuation
    starts[:, 1:] |= candidates[:, 1:] & ~candidates[:, :-1]  # the front of a segment, whatever stands there
    word_of = starts.cumsum(dim=1).masked_fill(~candidates, 0)  # 0: no word
    for row, words in enumerate(word_of):
        sizes = torch.bincount(words)
        left = int(number[row])
        for word in (1 + torch.randperm(len(sizes) - 1, generator=generator)).tolist():
            if sizes[word] <= left:
                chosen[row] |= words == word
                left -= int(sizes[word])
    return chosen


def mask_tokens(
    input_ids: Tensor,
    candidates: Tensor,
    rate: float,
    mask_token_id: int,
    vocab_size: int,
    generator: torch.Generator,
    continuation: Tensor | None = None,
    special_tokens: int = 3,
) -> tuple[Tensor, Tensor]:
    """Hide a share of the tokens: returns what the model sees and the labels, both [B, T].

    candidates [B, T]: tokens that may be chosen (no [CLS], [SEP], padding). In each row round(rate · length)
    are, at least one, the length with its special tokens, as published: 3 in a pair, 2 around one text (the tokenizer's
    layout counts them). Half a token is rounded to the even number. Of the chosen 80 % become [MASK], 10 % a random
    word and 10 % stay. Labels are the right ids where chosen, -100 elsewhere. With `continuation` whole words are
    chosen, which may be fewer tokens, or none where every word is too long.
    """
    length = candidates.sum(dim=1) + special_tokens
    number = (length.double() * rate).round().long().clamp_min(1)  # float32 would make 29 of 0.15 · 190 = 28.5
    if continuation is None:
        chosen = choose_tokens(candidates, number, generator)
    else:
        chosen = choose_words(candidates, continuation, number, generator)
    labels = input_ids.masked_fill(~chosen, IGNORED)
    masked, _, _ = replace_chosen(input_ids, chosen, mask_token_id, vocab_size, generator)
    return masked, labels


def replace_chosen(
    input_ids: Tensor,
    chosen: Tensor,
    mask_token_id: int,
    vocab_size: int,
    generator: torch.Generator,
    mask_share: float = 0.8,
    random_share: float = 0.1,
) -> tuple[Tensor, Tensor, Tensor]:
    """What the model sees in place of the chosen tokens: [MASK] for a share of them, a random token for another, the
    rest as they are. Returns that, where [MASK] was put and where a random token, all [B, T].
    """
    fate = torch.rand(input_ids.shape, generator=generator)
    random_ids = torch.randint(vocab_size, input_ids.shape, generator=generator)
    becomes_mask, becomes_random = chosen & (fate < mask_share), chosen & (fate >= 1 - random_share)
    seen = torch.where(becomes_mask, mask_token_id, torch.where(becomes_random, random_ids, input_ids))
    return seen, becomes_mask, becomes_random
