"""Which tokens an XLNet predicts, and in which order: spans, factorization orders, and the mask that an order makes.

Yang et al. 2019, sections 2.2, 2.3 and 3.1; zihangdai/xlnet (`data_utils.py`, `_sample_mask` and `_local_perm`).
Shapes: B batch, T tokens.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from bertedu.pretraining.masking import WithDraws, first_tokens
from bertedu.training.seeds import derive_seed

LONGEST_SPAN = 5


class OrderDraws(NamedTuple):
    """The random numbers that decide what a batch predicts and in which order, from 0 to 1 and all [B, T], so that each
    row takes its own along.
    """

    span_size: Tensor  # the length of a span that is looked for from this token on
    span_place: Tensor  # how far away it begins
    single: Tensor  # the tokens with the lowest numbers are predicted where spans give too few
    order: Tensor  # the tokens with the lowest numbers are read first


def draw_orders(shape: torch.Size, generator: torch.Generator) -> OrderDraws:
    """Random numbers for a batch of input_ids of this shape."""
    return OrderDraws(*(torch.rand(shape, generator=generator) for _ in OrderDraws._fields))


class WithOrders(WithDraws):
    """Batches that bring the random numbers for their spans and orders along, those of masks being of no use here."""

    def __getitem__(self, index):  # type: ignore[override]
        batch = self.batches[index]
        generator = torch.Generator().manual_seed(derive_seed(*self.seed, index))
        return {**batch, **draw_orders(batch["input_ids"].shape, generator)._asdict()}


def choose_predicted(
    candidates: Tensor, continuation: Tensor, rate: float, draws: OrderDraws, special_tokens: int = 2
) -> Tensor:
    """The tokens that are predicted, [B, T] of booleans (partial prediction, section 2.3).

    candidates [B, T]: tokens of the text, no special ones and no padding. continuation [B, T] is true for pieces that
    go on a word. `rate` is 1 / K. In each row round(length / K) are predicted, at least one, the length with its
    special tokens: 85 of 512 with the published K = 6. One candidate is always left, so that no token has to be
    predicted before a word of the text is known; a text of a single token is not predicted at all.
    """
    words = candidates.sum(dim=1)
    number = ((words + special_tokens).double() * rate).round().long().clamp_min(1)
    number = number.minimum((words - 1).clamp_min(0))
    spans = choose_spans(candidates, continuation, number, rate, draws)
    return spans | first_tokens(candidates & ~spans, number - spans.sum(dim=1), draws.single)


def choose_spans(candidates: Tensor, continuation: Tensor, number: Tensor, rate: float, draws: OrderDraws) -> Tensor:
    """Spans of together at most number[b] tokens in each row, from left to right: [B, T] of booleans.

    A length n from 1 to 5 is drawn, with weight 1/n; then how many of K · n tokens of context stand before the span.
    It begins at the next word start, and the rest of the context stands after it. So about one of K + 1 tokens is in a
    span: `choose_predicted` adds single tokens, as the authors do.

    n counts tokens, as in section 3.1. The authors' loop seems to be meant for words, but asks at each step whether
    the span's first token starts a word, which it always does. Where it drops a span that reaches the end of the
    sequence, we keep the part that is text. All rows walk at once, each at its own cursor.
    """
    length = candidates.size(1)
    positions, next_start = torch.arange(length), next_word_start(candidates, continuation)
    weights = 1 / torch.arange(1, LONGEST_SPAN + 1)
    sizes = 1 + torch.bucketize(draws.span_size, (weights / weights.sum()).cumsum(dim=0)[:-1], right=True)
    chosen, left, cursor = torch.zeros_like(candidates), number.clone(), torch.zeros_like(number)
    while ((cursor < length) & (left > 0)).any():
        here = cursor.clamp_max(length - 1)[:, None]
        size = sizes.gather(1, here)[:, 0].minimum(left)  # [B]
        context = (size.double() / rate).round().long()
        before = (draws.span_place.gather(1, here)[:, 0].double() * context).long()  # from 0 up to context - 1
        begin = next_start.gather(1, (cursor + before).clamp_max(length)[:, None])  # [B, 1]
        span = (positions >= begin) & (positions < begin + size[:, None]) & candidates
        chosen, left = chosen | span, left - span.sum(dim=1)
        cursor = (begin[:, 0] + size + context - before).clamp_max(length)
    return chosen


def next_word_start(candidates: Tensor, continuation: Tensor) -> Tensor:
    """For each position, and the one after the last, where the next word starts, T where none does: [B, T + 1].

    What stands first in a text counts as the start of a word, also where a word was cut.
    """
    length = candidates.size(1)
    first = candidates.clone()
    first[:, 1:] &= ~candidates[:, :-1]
    starts = (candidates & ~continuation) | first
    places = torch.where(starts, torch.arange(length), length)
    places = torch.cat([places, torch.full_like(places[:, :1], length)], dim=1)
    return places.flip(1).cummin(dim=1).values.flip(1)


def hidden_by_order(predicted: Tensor, order: Tensor) -> Tensor:
    """The perm_mask of a factorization order, [B, T, T] of booleans: true where token i may not see token j.

    predicted [B, T]; order [B, T]: the token with the lowest number of a row comes first. All tokens that are not
    predicted come before those that are. So they are seen by all tokens and see none that is predicted; a predicted
    token sees those that come before it in the order. Itself it does not see: the content stream, which may, takes care
    of that on its own.

    That holds for [CLS] and [SEP], too. In the authors' code they have their turn in the order like predicted tokens,
    and are hidden from those before them. What must not be mixed is to let a special token see predicted tokens and be
    seen by all, as in `transformers`' DataCollatorForPermutationLanguageModeling: one layer further up it tells each
    predicted token what the word is.
    """
    when = order.argsort(dim=1, stable=True).argsort(dim=1)  # [B, T]: equal numbers do not share a rank
    when = when.masked_fill(~predicted, -1)
    return predicted[:, None] & (when[:, :, None] <= when[:, None])
