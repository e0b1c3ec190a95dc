"""Recall@k and MRR against sums done by hand."""

import pytest

from bertedu.errors import UserError
from bertedu.search.measures import mrr_at, recall_at

# The right passage has rank 1, rank 3, rank 4, and is not found.
FOUND = [
    [(7, 0.9), (1, 0.8), (2, 0.7), (3, 0.1)],
    [(1, 0.9), (2, 0.8), (7, 0.7), (3, 0.1)],
    [(1, 0.9), (2, 0.8), (3, 0.7), (7, 0.1)],
    [(1, 0.9), (2, 0.8)],
]
RIGHT = [{7}] * 4


def test_recall_counts_no_hits_beyond_k():
    assert recall_at(FOUND, RIGHT, 1) == 1 / 4
    assert recall_at(FOUND, RIGHT, 3) == 2 / 4
    assert recall_at(FOUND, RIGHT, 10) == 3 / 4


def test_the_reciprocal_rank_counts_from_one_and_ends_at_k():
    assert mrr_at(FOUND, RIGHT, 10) == pytest.approx((1 + 1 / 3 + 1 / 4 + 0) / 4)
    assert mrr_at(FOUND, RIGHT, 3) == pytest.approx((1 + 1 / 3) / 4)


def test_several_right_passages_count_each_in_recall_and_once_in_the_reciprocal_rank():
    found, right = [[(5, 3.0), (1, 2.0), (2, 1.0)]], [{1, 2, 9, 8}]
    assert recall_at(found, right, 2) == 1 / 4
    assert recall_at(found, right, 3) == 2 / 4
    assert mrr_at(found, right, 3) == 1 / 2


@pytest.mark.parametrize(
    ("found", "right", "k", "message"),
    [
        (FOUND, RIGHT, 0, "k is 0"),
        ([], [], 10, "for 0 questions"),
        (FOUND, RIGHT[:3], 10, "for 4 questions and right passages for 3"),
        (FOUND, [*RIGHT[:3], set()], 10, "without a right passage"),
    ],
)
def test_a_figure_of_nothing_is_refused(found, right, k, message):
    for measure in (recall_at, mrr_at):
        with pytest.raises(UserError, match=message):
            measure(found, right, k)
