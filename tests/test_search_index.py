"""The index against a comparison with every vector; and the bi-encoder's search against its training."""

import pytest
import torch
from support.search_models import KINDS, PASSAGES, QUESTIONS, TOKENIZER, small
from torch.nn.functional import normalize

from bertedu.errors import UserError
from bertedu.search.dense import DenseRetriever, DenseSearch
from bertedu.search.index import VectorIndex
from bertedu.search.retriever import score_all


def vectors(count: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(20, 16, generator=generator)
    near = centres[torch.randint(20, (count,), generator=generator)]
    return normalize(near + 0.5 * torch.randn(count, 16, generator=generator), dim=-1)


def brute_force(questions: torch.Tensor, passages: torch.Tensor, k: int) -> list[list[int]]:
    found = []
    for question in questions:
        cosines = [float(question @ passage) for passage in passages]
        found.append(sorted(range(len(passages)), key=lambda number: -cosines[number])[:k])
    return found


@pytest.mark.parametrize("faiss_from", [10_000, 1], ids=["matrix", "cells"])
def test_an_index_finds_what_comparing_each_finds(faiss_from):
    """At 900 passages there are fewer cells than are looked at: both must find all."""
    passages, questions = vectors(900), vectors(30, seed=1)
    hits = VectorIndex(passages, faiss_from).search(questions, 10)
    assert [[number for number, _ in row] for row in hits] == brute_force(questions, passages, 10)
    for question, row in zip(questions, hits, strict=True):
        assert [score for _, score in row] == pytest.approx([float(question @ passages[n]) for n, _ in row], abs=1e-5)


def test_cells_find_nearly_all_that_is_near():
    passages, questions = vectors(6000), vectors(50, seed=1)
    hits = VectorIndex(passages, faiss_from=6000).search(questions, 10)
    exact = brute_force(questions, passages, 10)
    shared = [len({number for number, _ in row} & set(one)) / 10 for row, one in zip(hits, exact, strict=True)]
    assert sum(shared) / len(shared) > 0.95


def test_faiss_begins_at_the_size_that_was_chosen():
    passages = vectors(100)
    assert VectorIndex(passages, faiss_from=101).cells is None
    assert VectorIndex(passages, faiss_from=100).cells is not None


def test_more_hits_than_passages_may_be_asked_for():
    passages = vectors(3)
    for faiss_from in (100, 1):
        hits = VectorIndex(passages, faiss_from).search(vectors(2, seed=1), 10)
        assert [sorted(number for number, _ in row) for row in hits] == [[0, 1, 2]] * 2
    with pytest.raises(UserError, match="k is 0"):
        VectorIndex(passages).search(passages, 0)
    with pytest.raises(UserError, match=r"shape \[3\]"):
        VectorIndex(torch.ones(3))


def test_what_the_cells_do_not_hold_is_left_out():
    """All passages are asked for, and 16 of 46 cells are looked at."""
    (hits,) = VectorIndex(vectors(3000), faiss_from=1).search(vectors(1, seed=1), 3000)
    numbers = [number for number, _ in hits]
    assert 100 < len(numbers) < 2900 and len(set(numbers)) == len(numbers) and min(numbers) >= 0


def test_the_search_compares_the_vectors_of_training():
    model = small(KINDS["dense"])
    expected = score_all(DenseRetriever(), model, TOKENIZER, QUESTIONS, PASSAGES)
    hits = DenseSearch(model, TOKENIZER, PASSAGES).search(QUESTIONS, len(PASSAGES))
    for row, scores in zip(hits, expected, strict=True):
        assert [number for number, _ in row] == scores.argsort(descending=True).tolist()
        assert [score for _, score in row] == pytest.approx(scores.sort(descending=True).values.tolist(), abs=1e-5)
    assert expected.min() >= -1 and expected.max() <= 1 + 1e-6
