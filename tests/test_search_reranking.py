"""Reranking: the order of the cross-encoder's scores, pairs read as they were learned, hits that were missed."""

import pytest
import torch
from support.search_models import KINDS, PASSAGES, QUESTIONS, TOKENIZER, small

from bertedu.errors import UserError
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.search.collection import Asked
from bertedu.search.late_interaction import LateSearch
from bertedu.search.reranking import (
    LateReranking,
    RerankedSearch,
    Reranking,
    fitted_share,
    ordered,
    reranking_task,
    standardized,
)
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer
from bertedu.training.settings import TrainingSettings


class Fixed:
    """A search that always finds the same passages."""

    def __init__(self, *numbers: int):
        self.numbers, self.asked = numbers, []

    def search(self, questions, k=10):
        self.asked.append(k)
        return [[(number, 1.0 - 0.1 * place) for place, number in enumerate(self.numbers[:k])] for _ in questions]


class Known(Reranking):
    """A reranker whose scores are given, by the number of the passage."""

    def __init__(self, first, given, share=1.0):
        super().__init__(first, share=share)
        self.given = given

    def scores(self, question, numbers):
        return [self.given[question][number] for number in numbers]


def test_a_pair_is_read_as_it_was_learned(monkeypatch):
    """The scores of the search are those that the training task gives to the same question and passages."""
    monkeypatch.setattr("bertedu.search.reranking.PAIRS_AT_ONCE", 3)
    model, numbers = small(KINDS["cross"]), [5, 1, 0, 7, 4]
    settings = FinetuningSettings(batch_size=1)
    task = reranking_task([Asked("a b c", 5, (1, 0, 7, 4))], [], PASSAGES, TOKENIZER, settings)
    (batch,) = task.epoch(0)
    with torch.no_grad():
        expected = dict(zip(numbers, model(**batch).logits[0].tolist(), strict=True))
    (hits,) = RerankedSearch(Fixed(*numbers), model, TOKENIZER, PASSAGES).search(["a b c"])
    assert dict(hits) == pytest.approx(expected, abs=1e-5)
    assert [number for number, _ in hits] == sorted(numbers, key=lambda number: -expected[number])


def test_hits_are_cut_after_they_are_reranked_to_the_depth():
    model, first = small(KINDS["cross"]), Fixed(0, 1, 2, 3, 4, 5, 6, 7)
    deep, shallow = (RerankedSearch(first, model, TOKENIZER, PASSAGES, depth=depth) for depth in (8, 3))
    (every,), (best,), (few,) = deep.search(["d e"], 8), deep.search(["d e"], 2), shallow.search(["d e"], 8)
    assert best == every[:2] and len(every) == 8
    assert sorted(number for number, _ in few) == [0, 1, 2] and first.asked == [8, 8, 3]
    assert [number for number, _ in every] != list(range(8))  # there was something to put in order


def test_a_search_without_hits_does_not_stop_the_reranker():
    assert RerankedSearch(Fixed(), small(KINDS["cross"]), TOKENIZER, PASSAGES).search(["a", "b"]) == [[], []]


def test_a_reranker_without_negatives_or_depth_is_refused():
    with pytest.raises(UserError, match="hard negatives"):
        reranking_task([Asked("a", 0)], [], PASSAGES, TOKENIZER, FinetuningSettings())
    with pytest.raises(UserError, match="depth is 0"):
        RerankedSearch(Fixed(0), small(KINDS["cross"]), TOKENIZER, PASSAGES, depth=0)


def test_the_reranker_learns_to_put_the_answer_first(tmp_path):
    """The right passage begins with the letter asked for; the wrong ones hold it elsewhere."""
    others = "ijklmnop"
    passages = [f"{first} {second}" for first in "abcdefgh" for second in "abcdefgh" if first != second]
    generator = torch.Generator().manual_seed(0)
    rows = []
    for number, passage in enumerate(passages):
        first, second = passage.split()
        mark = others[int(torch.randint(8, (1,), generator=generator))]
        rows.append(Asked(f"{first} {mark}", number, (passages.index(f"{second} {first}"),)))
    order = torch.randperm(len(rows), generator=generator).tolist()
    train, test = [rows[number] for number in order[:44]], [rows[number] for number in order[44:]]
    task = reranking_task(train, test, passages, TOKENIZER, FinetuningSettings(batch_size=11))
    training = TrainingSettings(learning_rate=3e-3, device="cpu", precision="fp32", validations=0)
    model = small(KINDS["cross"])
    Trainer(model, task, training, Budget(steps=120), tmp_path).run()
    right = 0
    for row in test:
        (hits,) = RerankedSearch(Fixed(*row.negatives, row.passage), model.eval(), TOKENIZER, passages).search(
            [row.question]
        )
        right += hits[0][0] == row.passage
    assert right >= len(test) - 2


def test_the_search_with_the_larger_numbers_does_not_outvote_the_other():
    """BM25's 30, 20 and 4 beside cosines: standardized by hand, means 18 and 0.5."""
    hits, cosines = [(7, 30.0), (3, 20.0), (9, 4.0)], [0.3, 0.7, 0.5]
    old = [12 / (344 / 3) ** 0.5, 2 / (344 / 3) ** 0.5, -14 / (344 / 3) ** 0.5]
    new = [-0.2 / (0.08 / 3) ** 0.5, 0.2 / (0.08 / 3) ** 0.5, 0.0]
    expected = {number: 0.6 * b + 0.4 * a for (number, _), a, b in zip(hits, old, new, strict=True)}
    found = ordered(hits, cosines, 0.6)
    assert dict(found) == pytest.approx(expected) and [number for number, _ in found] == [3, 7, 9]
    assert [number for number, _ in ordered(hits, [1000 * cosine for cosine in cosines], 0.6)] == [3, 7, 9]


def test_equal_scores_stay_numbers_and_keep_the_order():
    assert standardized([2.0, 2.0]).tolist() == [0.0, 0.0] and standardized([]).tolist() == []
    assert ordered([(4, 0.5), (2, 0.5)], [1.0, 1.0], 0.5) == [(4, 0.0), (2, 0.0)]
    assert ordered([], [], 0.5) == []


def test_share_counts_the_right_way_round():
    first, given = Fixed(0, 1, 2), {"a": {0: 0.0, 1: 1.0, 2: 2.0}}
    order = {
        share: [number for number, _ in Known(first, given, share).search(["a"])[0]] for share in (0.0, 0.1, 0.9, 1.0)
    }
    assert order == {0.0: [0, 1, 2], 0.1: [0, 1, 2], 0.9: [2, 1, 0], 1.0: [2, 1, 0]}
    with pytest.raises(UserError, match=r"share is 1\.5"):
        Known(first, given, 1.5)


def test_the_fitted_share_is_the_one_that_ranks_best():
    """Three questions on which the new scores mislead, or help, or do both."""
    given = {"up": {0: 0.0, 1: 1.0, 2: 0.5}, "down": {0: 0.0, 1: 0.9, 2: 1.0}}
    up, down = Asked("up", 1), Asked("down", 0)
    search = Known(Fixed(0, 1, 2), given)
    assert fitted_share(search, [down]) == 0.0
    helped = fitted_share(search, [up])
    assert 0 < helped < 1 and Known(search.first, given, helped).search(["up"])[0][0][0] == 1
    assert Known(search.first, given, helped - 0.1).search(["up"])[0][0][0] == 0  # the smallest that is right
    assert search.share == 1.0


def test_late_interaction_reranks_by_the_passages_own_tokens():
    """Reranked to the full depth, the hits are those of late interaction alone, scores and all."""
    late = LateSearch(small(KINDS["late"]), TOKENIZER, PASSAGES)
    everything = Fixed(*range(len(PASSAGES)))
    expected, found = (search.search(QUESTIONS, 8) for search in (late, LateReranking(everything, late)))
    for own, reranked in zip(expected, found, strict=True):
        assert [number for number, _ in reranked] == [number for number, _ in own]
        assert [score for _, score in reranked] == pytest.approx([score for _, score in own], abs=1e-5)
    (few,) = LateReranking(Fixed(6, 2), late).search(["d e f"])
    assert sorted(number for number, _ in few) == [2, 6]
