"""Reranking: the order of the cross-encoder's scores, pairs read as they were learned, hits that were missed."""

import pytest
import torch
from search_models import KINDS, PASSAGES, TOKENIZER, small

from bertedu.errors import UserError
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.search.collection import Asked
from bertedu.search.reranking import RerankedSearch, reranking_task
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


def test_a_pair_is_read_otherwise_than_it_was_learned(monkeypatch):
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


def test_hits_are_cut_before_they_are_reranked_or_depth_is_ignored():
    model, first = small(KINDS["cross"]), Fixed(0, 1, 2, 3, 4, 5, 6, 7)
    deep, shallow = (RerankedSearch(first, model, TOKENIZER, PASSAGES, depth=depth) for depth in (8, 3))
    (every,), (best,), (few,) = deep.search(["d e"], 8), deep.search(["d e"], 2), shallow.search(["d e"], 8)
    assert best == every[:2] and len(every) == 8
    assert sorted(number for number, _ in few) == [0, 1, 2] and first.asked == [8, 8, 3]
    assert [number for number, _ in every] != list(range(8))  # there was something to put in order


def test_a_search_without_hits_stops_the_reranker():
    assert RerankedSearch(Fixed(), small(KINDS["cross"]), TOKENIZER, PASSAGES).search(["a", "b"]) == [[], []]


def test_a_reranker_learns_without_negatives_or_looks_at_nothing():
    with pytest.raises(UserError, match="hard negatives"):
        reranking_task([Asked("a", 0)], [], PASSAGES, TOKENIZER, FinetuningSettings())
    with pytest.raises(UserError, match="depth is 0"):
        RerankedSearch(Fixed(0), small(KINDS["cross"]), TOKENIZER, PASSAGES, depth=0)


def test_the_reranker_does_not_learn_to_put_the_answer_first(tmp_path):
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
