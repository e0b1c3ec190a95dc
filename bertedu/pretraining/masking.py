"""Masking: which tokens the model must guess, and what it sees instead. Built by hand in notebook 06.

Devlin et al. 2019, section 3.1 and appendix A.1; google-research/bert (`create_masked_lm_predictions`).
Shapes: B batch, T tokens.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from bertedu.model.heads import IGNORED
from bertedu.training.seeds import derive_seed


class Draws(NamedTuple):
    """The random numbers that decide a batch's masks, all [B, T], so that each row takes its own along."""

    mask_order: Tensor  # from 0 to 1: those with the lowest numbers are chosen
    mask_fate: Tensor  # from 0 to 1: low ones make [MASK], high ones a random word
    mask_words: Tensor  # random ids


def draw(shape: torch.Size, vocab_size: int, generator: torch.Generator) -> Draws:
    """Random numbers for a batch of input_ids of this shape."""
    order, fate = (torch.rand(shape, generator=generator) for _ in range(2))
    return Draws(order, fate, torch.randint(vocab_size, shape, generator=generator))


class WithDraws(Sequence[dict[str, Tensor]]):
    """Batches that bring the random numbers for their masks along, as many as a batch has tokens: a row is masked alike
    whichever process gets it and whichever data worker makes it. seed: what is drawn depends on it and on the batch.
    """

    def __init__(self, batches: Sequence[dict[str, Tensor]], vocab_size: int, *seed: int | str):
        self.batches, self.vocab_size, self.seed = batches, vocab_size, seed
        self.lengths = batches.lengths  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index):  # type: ignore[override]
        batch = self.batches[index]
        generator = torch.Generator().manual_seed(derive_seed(*self.seed, index))
        return {**batch, **draw(batch["input_ids"].shape, self.vocab_size, generator)._asdict()}


def choose_tokens(candidates: Tensor, number: Tensor, generator: torch.Generator) -> Tensor:
    """Pick number[b] of the candidates in each row, all equally likely: [B, T] and [B] to booleans [B, T]."""
    return first_tokens(candidates, number, torch.rand(candidates.shape, generator=generator))


def first_tokens(candidates: Tensor, number: Tensor, order: Tensor) -> Tensor:
    """The number[b] candidates of each row that come first in an order [B, T]."""
    ranked = order.masked_fill(~candidates, 2.0).argsort(dim=1)  # candidates first
    places = torch.arange(candidates.size(1)).expand_as(ranked)
    rank = torch.empty_like(ranked).scatter_(1, ranked, places)
    return (rank < number[:, None]) & candidates


def choose_words(candidates: Tensor, continuation: Tensor, number: Tensor, generator: torch.Generator) -> Tensor:
    """As choose_tokens, but all pieces of a word or none; a word that would exceed the number is passed over.

    continuation [B, T] is true for pieces that go on a word ("##ing"). Where truncation cut a word at the front
    of a segment, what is left of it counts as a word.
    """
    return first_words(candidates, continuation, number, torch.rand(candidates.shape, generator=generator))


def first_words(candidates: Tensor, continuation: Tensor, number: Tensor, order: Tensor) -> Tensor:
    """The words of each row that come first in an order [B, T] of their first pieces, as far as the number goes.

    W is the number of words of the row with most; all rows are looked through at once, word by word of their orders.
    """
    starts = first_pieces(candidates, continuation)
    word_of = number_words(candidates, starts)
    words = int(word_of.max()) if word_of.numel() else 0
    nothing = torch.zeros(len(candidates), words + 1, dtype=torch.long)
    sizes = nothing.scatter_add(1, word_of, candidates.long())  # [B, 1 + W]
    keys = torch.full(nothing.shape, 2.0).scatter_(1, word_of.masked_fill(~starts, 0), order)
    ordered = 1 + keys[:, 1:].argsort(dim=1)  # [B, W]
    chosen, left = nothing.bool(), number.clone()
    for word, size in zip(ordered.T, sizes.gather(1, ordered).T, strict=True):  # each [B]
        fits = size <= left
        chosen.scatter_(1, word[:, None], fits[:, None])
        left -= size * fits
        if not left.any():
            break
    return chosen.gather(1, word_of) & candidates


def first_pieces(candidates: Tensor, continuation: Tensor) -> Tensor:
    """Where words begin, [B, T]."""
    starts = candidates & ~continuation
    starts[:, 1:] |= candidates[:, 1:] & ~candidates[:, :-1]  # the front of a segment, whatever stands there
    return starts


def number_words(candidates: Tensor, starts: Tensor) -> Tensor:
    """The word that each token belongs to, counted from 1 on in its row, and 0 for what is no candidate: [B, T]."""
    return starts.cumsum(dim=1).masked_fill(~candidates, 0)


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

    candidates [B, T]: tokens that may be chosen (no [CLS], [SEP], padding). In each row round(masking rate · length)
    are, at least one, the length with its special tokens, as published: 3 in a pair, 2 around one text (the tokenizer's
    layout counts them). Half a token is rounded to the even number. Of the chosen 80 % become [MASK], 10 % a random
    word and 10 % stay. Labels are the right ids where chosen, -100 elsewhere. With `continuation` whole words are
    chosen, which may be fewer tokens, or none where every word is too long.
    """
    draws = draw(input_ids.shape, vocab_size, generator)
    return apply_masks(input_ids, candidates, rate, mask_token_id, draws, continuation, special_tokens)


def apply_masks(
    input_ids: Tensor,
    candidates: Tensor,
    rate: float,
    mask_token_id: int,
    draws: Draws,
    continuation: Tensor | None = None,
    special_tokens: int = 3,
    mask_share: float = 0.8,
    random_share: float = 0.1,
) -> tuple[Tensor, Tensor]:
    """`mask_tokens` with the random numbers drawn before: what becomes of a row depends on that row alone."""
    number = tokens_to_mask(candidates, rate, special_tokens)
    if continuation is None:
        chosen = first_tokens(candidates, number, draws.mask_order)
    else:
        chosen = first_words(candidates, continuation, number, draws.mask_order)
    labels = input_ids.masked_fill(~chosen, IGNORED)
    masked, _, _ = replace_chosen(input_ids, chosen, mask_token_id, draws, mask_share, random_share)
    return masked, labels


def tokens_to_mask(candidates: Tensor, rate: float, special_tokens: int) -> Tensor:
    """How many tokens of each row are chosen, [B]: see `mask_tokens`."""
    length = candidates.sum(dim=1) + special_tokens
    return (length.double() * rate).round().long().clamp_min(1)  # float32 would make 29 of 0.15 · 190 = 28.5


def replace_chosen(
    input_ids: Tensor,
    chosen: Tensor,
    mask_token_id: int,
    draws: Draws,
    mask_share: float = 0.8,
    random_share: float = 0.1,
) -> tuple[Tensor, Tensor, Tensor]:
    """What the model sees in place of the chosen tokens: [MASK] for a share of them, a random token for another, the
    rest as they are. Returns that, where [MASK] was put and where a random token, all [B, T].
    """
    becomes_mask = chosen & (draws.mask_fate < mask_share)
    becomes_random = chosen & (draws.mask_fate >= 1 - random_share)
    seen = torch.where(becomes_mask, mask_token_id, torch.where(becomes_random, draws.mask_words, input_ids))
    return seen, becomes_mask, becomes_random
