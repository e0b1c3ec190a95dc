"""What an XLNet predicts, and in which order: counted, and compared with loops written from the paper."""

import random

import pytest
import torch
from torch import Tensor

from bertedu.family.xlnet.heads import target_mapping_of
from bertedu.pretraining.factorization import (
    OrderDraws,
    choose_predicted,
    choose_spans,
    draw_orders,
    hidden_by_order,
    next_word_start,
)


def drawn(rows: int, length: int, seed: int = 0) -> OrderDraws:
    return draw_orders(torch.Size((rows, length)), torch.Generator().manual_seed(seed))


def text_between(rows: int, length: int, first: int = 1, last: int = 1) -> Tensor:
    """Candidates: all but the first and the last tokens."""
    return ((torch.arange(length) >= first) & (torch.arange(length) < length - last)).expand(rows, length)


def words_of(rows: int, length: int, seed: int = 0) -> Tensor:
    """Continuation: about a third of the tokens go on with a word."""
    return torch.rand(rows, length, generator=torch.Generator().manual_seed(100 + seed)) < 1 / 3


def test_one_of_six_tokens_is_predicted():
    """85 of 512 as published, rounded in shorter texts; one where it would be none; never all words of a text."""
    for length, wanted in ((512, 85), (128, 21), (24, 4), (9, 2), (5, 1), (4, 1)):
        predicted = choose_predicted(
            text_between(3, length), words_of(3, length), 1 / 6, drawn(3, length), special_tokens=2
        )
        assert predicted.sum(dim=1).tolist() == [wanted] * 3, length
    predicted = choose_predicted(text_between(3, 5), words_of(3, 5), 0.95, drawn(3, 5), special_tokens=2)
    assert predicted.sum(dim=1).tolist() == [2] * 3, "a token would be predicted from no word at all"
    predicted = choose_predicted(text_between(3, 3), words_of(3, 3), 1 / 6, drawn(3, 3), special_tokens=2)
    assert not predicted.any(), "the only token of a text would be predicted from no word at all"


def test_no_special_token_and_no_padding_is_predicted():
    """Also where a span would reach over the end of the text, and for a rate that takes nearly all."""
    for seed in range(40):
        candidates = text_between(4, 20, first=seed % 3, last=1 + seed % 4)
        for rate in (1 / 6, 0.5, 0.9):
            predicted = choose_predicted(candidates, words_of(4, 20, seed), rate, drawn(4, 20, seed))
            assert not (predicted & ~candidates).any()
            assert (predicted.sum(dim=1) < candidates.sum(dim=1)).all()


def spans_in_loops(row: Tensor, goes_on: Tensor, number: int, K: int, sizes: Tensor, places: Tensor) -> list[bool]:
    """Section 3.1 and `_sample_mask` for one row: L with weight 1/L from 1 to 5, in a context of K · L tokens."""
    length, chosen, left, cursor = len(row), [False] * len(row), number, 0
    weights = [1 / n for n in range(1, 6)]
    while cursor < length and left > 0:
        u, n = float(sizes[cursor]) * sum(weights), 1
        while n < 5 and u >= sum(weights[:n]):
            n += 1
        n = min(n, left)
        before = int(float(places[cursor]) * n * K)
        begin = cursor + before
        while begin < length and not (row[begin] and (not goes_on[begin] or begin == 0 or not row[begin - 1])):
            begin += 1
        for at in range(begin, min(begin + n, length)):
            if row[at]:
                chosen[at], left = True, left - 1
        cursor = begin + n + (K * n - before)
    return chosen


def test_spans_are_drawn_as_the_authors_do():
    """Row by row in loops, with rows of different lengths side by side."""
    for seed in range(30):
        length, rng = 60, random.Random(seed)
        real = torch.tensor([[rng.randint(8, length)] for _ in range(6)])
        candidates = (torch.arange(length) >= seed % 2) & (torch.arange(length) < real - 2)
        goes_on, draws, K = words_of(6, length, seed), drawn(6, length, seed), rng.choice([2, 6, 7])
        number = torch.tensor([rng.randint(0, 12) for _ in range(6)])
        found = choose_spans(candidates, goes_on, number, 1 / K, draws)
        for row in range(6):
            given = (candidates[row], goes_on[row], int(number[row]), K, draws.span_size[row], draws.span_place[row])
            assert found[row].tolist() == spans_in_loops(*given), (seed, row)


def test_spans_of_one_to_five_tokens_are_predicted():
    """Lengths from 1 to 5 with weight 1/n, each beginning a word, and about K + 1 tokens apart."""
    length, rows = 3000, 40
    goes_on = torch.zeros(rows, length, dtype=torch.bool)
    spans = choose_spans(torch.ones_like(goes_on), goes_on, torch.full((rows,), length), 1 / 6, drawn(rows, length))
    assert spans.float().mean() == pytest.approx(1 / 7, abs=0.01)
    changes = torch.nn.functional.pad(spans.int(), (1, 1)).diff(dim=1)
    sizes = (changes == -1).nonzero()[:, 1] - (changes == 1).nonzero()[:, 1]
    shares = [(sizes == n).float().mean().item() for n in range(1, 6)]
    weights = torch.tensor([1 / n for n in range(1, 6)])
    assert shares == pytest.approx((weights / weights.sum()).tolist(), abs=0.03)  # some touch, and count as one
    all_tokens = torch.ones(9, 60, dtype=torch.bool)
    spans = choose_spans(all_tokens, goes_on[:9, :60], torch.full((9,), 10), 1 / 6, drawn(9, 60))
    predicted = choose_predicted(all_tokens, goes_on[:9, :60], 1 / 6, drawn(9, 60), special_tokens=0)
    assert predicted.sum(dim=1).tolist() == [10] * 9 and spans.sum() > 50 and not (spans & ~predicted).any()
    goes_on = words_of(rows, length)
    spans = choose_spans(torch.ones_like(goes_on), goes_on, torch.full((rows,), 200), 1 / 6, drawn(rows, length))
    begins = spans & ~torch.nn.functional.pad(spans, (1, 0))[:, :-1]
    assert not (begins & goes_on)[:, 1:].any()


def test_a_span_begins_with_a_word():
    text = torch.tensor([[0, 1, 1, 1, 1, 0, 1, 1, 0]]).bool()
    goes_on = torch.tensor([[0, 1, 0, 1, 0, 1, 1, 0, 0]]).bool()
    assert next_word_start(text, goes_on).tolist() == [[1, 1, 2, 4, 4, 6, 6, 7, 9, 9]]


def mask_in_loops(predicted: list[bool], order: list[float]) -> list[list[bool]]:
    """Section 2.2: z is the order in which a row is read, first all that is not predicted; token z_t sees z_<t. What is
    not predicted sees all of its kind, and itself.
    """
    length = len(predicted)
    z = sorted((at for at in range(length) if predicted[at]), key=lambda at: order[at])
    given = [at for at in range(length) if not predicted[at]]
    mask = [[False] * length for _ in range(length)]
    for i in range(length):
        seen = given + z[: z.index(i)] if predicted[i] else given
        for j in range(length):
            mask[i][j] = j not in seen
    return mask


def test_a_token_sees_neither_itself_nor_one_that_comes_later():
    draws = drawn(20, 15, seed=3)
    predicted = choose_predicted(text_between(20, 15), words_of(20, 15), 0.4, draws)
    mask = hidden_by_order(predicted, draws.order)
    for row in range(20):
        assert mask[row].tolist() == mask_in_loops(predicted[row].tolist(), draws.order[row].tolist())
    assert mask[:, range(15), range(15)].equal(predicted)


def test_tokens_with_the_same_number_do_not_hide_each_other():
    """Random numbers of 24 bits fall together in one of some thousand texts: then, too, one of two comes first."""
    predicted = torch.tensor([[False, True, True, True]])
    mask = hidden_by_order(predicted, torch.full((1, 4), 0.5))
    assert sorted(mask[0].sum(dim=1).tolist()) == [1, 2, 3, 3]


def test_every_row_of_a_batch_has_an_order_of_its_own():
    draws = drawn(50, 15)
    predicted = torch.ones(50, 15, dtype=torch.bool)
    masks = hidden_by_order(predicted, draws.order)
    assert len({tuple(mask.flatten().tolist()) for mask in masks}) == 50
    places = choose_predicted(text_between(50, 40), words_of(50, 40), 1 / 6, drawn(50, 40))
    assert len({tuple(row.tolist()) for row in places}) > 45


def test_a_row_is_predicted_the_same_beside_other_rows():
    """Then two processes would train another model than one."""
    candidates, goes_on, draws = text_between(6, 30), words_of(6, 30), drawn(6, 30)
    whole = choose_predicted(candidates, goes_on, 1 / 6, draws)
    for row in range(6):
        one = slice(row, row + 1)
        alone = choose_predicted(candidates[one], goes_on[one], 1 / 6, OrderDraws(*(numbers[one] for numbers in draws)))
        assert torch.equal(alone, whole[one])
        mask = hidden_by_order(alone, draws.order[one])
        assert torch.equal(mask, hidden_by_order(whole, draws.order)[one])


def test_the_mapping_points_to_its_token_in_a_padded_row():
    """In loops: row m of the mapping has its 1 at the m-th predicted token, wherever padding stands."""
    positions = torch.tensor([[0, 1, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0]]).bool()
    mapping = target_mapping_of(positions)
    assert mapping.shape == (3, 3, 6)
    for row in range(3):
        places = [at for at in range(6) if positions[row, at]]
        for m in range(3):
            assert mapping[row, m].nonzero().flatten().tolist() == places[m : m + 1]
    assert target_mapping_of(positions[2:]).shape == (1, 0, 6)
