"""Masking of spans: neighbouring words hidden together, and where the visible tokens around each span stand.

Joshi et al. 2020 (SpanBERT), section 3.1; `fairseq/data/masking.py` of facebookresearch/SpanBERT. As there, a span has
1 to 10 whole words, the number drawn from a geometric distribution with p = 0.2 cut off at 10 and made to sum to 1 (3.8
words on average); it begins with the word of a random token that is still visible; it may run into an earlier span;
and spans that overlap or touch are one from then on, so that a token beside a span is always visible. What the model
sees in place of a span is drawn once for all of it: [MASK] at each token in 80 % of the spans, random words in 10 %,
the words themselves in 10 %. The boundary is asked for a span only where both its neighbours are tokens of the text,
not [CLS] or [SEP], and then for its first 15 tokens.

Different from the authors' code: where the budget of a sequence ends they cut the last word, and here a word that would
exceed the budget is passed over, so that no part of a word is left visible; they round the budget up, and here it is
rounded as for BERT; and they draw random words as often as they stand in the text, and here all tokens of the
vocabulary are equally likely, as for BERT.

Shapes: B batch, T tokens.
"""

import torch
from torch import Tensor

from bertedu.family.spanbert import MOST_TARGETS, NO_BOUNDARY
from bertedu.pretraining.masking import (
    Draws,
    WithDraws,
    first_pieces,
    number_words,
    replace_chosen,
    tokens_to_mask,
)
from bertedu.training.seeds import derive_seed

LONGEST, P = 10, 0.2


def length_probabilities() -> Tensor:
    """How likely spans of 1 to 10 words are, [10]: each 0.8 times as likely as the one before, in all 1."""
    weights = P * (1 - P) ** torch.arange(LONGEST, dtype=torch.float64)
    return weights / weights.sum()


def draw_lengths(shape: torch.Size, seed: int) -> Tensor:
    """For each token [B, T] the words of the span that begins there, if one does."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.multinomial(length_probabilities(), shape.numel(), replacement=True, generator=generator)
    return 1 + drawn.view(shape)


class WithSpans(WithDraws):
    """Batches that also bring the lengths of spans along, one for each token."""

    def __getitem__(self, index):  # type: ignore[override]
        batch = super().__getitem__(index)
        seed = derive_seed(*self.seed, "lengths", index)
        return {**batch, "span_lengths": draw_lengths(batch["input_ids"].shape, seed)}


def choose_spans(candidates: Tensor, continuation: Tensor, number: Tensor, order: Tensor, lengths: Tensor) -> Tensor:
    """Spans of whole words in each row, at most number[b] tokens in all: booleans [B, T].

    order [B, T]: the tokens with the lowest numbers begin spans (their words do); lengths [B, T]: of how many words.
    Each row depends on its own numbers alone.
    """
    word_of = number_words(candidates, first_pieces(candidates, continuation))
    columns = (order.argsort(dim=1), word_of, lengths, number)
    rows = [spans_of_row(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    return torch.tensor(rows, dtype=torch.bool).view(candidates.shape)


def spans_of_row(anchors: list[int], word_of: list[int], lengths: list[int], budget: int) -> list[bool]:
    """The same for one row: a span for each of the anchors, in their order, until the budget is used up.

    An anchor that is hidden by then, or is no candidate, begins no span. A word beyond the budget ends its span.
    """
    chosen = [False] * len(word_of)
    for anchor in anchors:
        if budget == 0:
            break
        if chosen[anchor] or word_of[anchor] == 0:
            continue
        start = word_of.index(word_of[anchor])  # the first piece of the anchor's word
        for _ in range(lengths[anchor]):
            if start == len(word_of) or word_of[start] == 0:  # the text ends here, or is no candidate: [CLS], padding
                break
            stop = start + word_of.count(word_of[start])
            size = 0 if chosen[start] else stop - start
            if size > budget:
                break
            chosen[start:stop] = [True] * (stop - start)
            budget, start = budget - size, stop
    return chosen


def span_starts(chosen: Tensor) -> Tensor:
    """The first token of each span, [B, T]: a span is a run of chosen tokens, since spans that touch are one."""
    starts = chosen.clone()
    starts[:, 1:] &= ~chosen[:, :-1]
    return starts


def boundaries(chosen: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor]:
    """Where the visible tokens to the left and to the right of each chosen token's span stand, [B, T] each.

    NO_BOUNDARY elsewhere, also where one of the two is no candidate or missing, and beyond the first tokens of a span.
    """
    length = chosen.size(1)
    places = torch.arange(length).expand_as(chosen)
    left = places.masked_fill(chosen, -1).cummax(dim=1).values  # the last visible position so far, -1: none
    right = places.masked_fill(chosen, length).flip(1).cummin(dim=1).values.flip(1)  # the next one, T: none
    edge = torch.zeros(len(chosen), 1, dtype=torch.bool)
    is_text = torch.cat([edge, candidates, edge], dim=1)  # position p is at p + 1 here
    asked = chosen & is_text.gather(1, left + 1) & is_text.gather(1, right + 1) & (places - left <= MOST_TARGETS)
    return left.masked_fill(~asked, NO_BOUNDARY), right.masked_fill(~asked, NO_BOUNDARY)


def apply_span_masks(
    input_ids: Tensor,
    candidates: Tensor,
    rate: float,
    mask_token_id: int,
    draws: Draws,
    lengths: Tensor,
    continuation: Tensor,
    special_tokens: int = 2,
) -> tuple[Tensor, Tensor]:
    """What the model sees, and which tokens were chosen, both [B, T]. candidates: no [CLS], [SEP] or padding."""
    number = tokens_to_mask(candidates, rate, special_tokens)
    chosen = choose_spans(candidates, continuation, number, draws.mask_order, lengths)
    places = torch.arange(chosen.size(1)).expand_as(chosen)
    first = places.masked_fill(~span_starts(chosen), 0).cummax(dim=1).values  # of a chosen token: where its span begins
    of_spans = draws._replace(mask_fate=draws.mask_fate.gather(1, first))
    seen, _, _ = replace_chosen(input_ids, chosen, mask_token_id, of_spans)
    return seen, chosen
