"""What a check of a variant says where several mistakes look the same on one input."""

import pytest
import torch

from bertedu.course.case import Case
from bertedu.course.explaining import agree, compare
from bertedu.course.verdict import Ended

ROWS = [("two and two", 2, 2), ("three and four", 3, 4)]
MISTAKES = {"You multiplied.": lambda a, b: a * b, "You took a power.": lambda a, b: a**b}


def said(answer) -> str:
    """What a sum's check says to an answer."""
    with pytest.raises(Ended) as end:
        compare(Case("1.1", answer), ROWS, lambda a, b: a + b + 1, MISTAKES, "Add one.", names=("the sum",))
    return " ".join(end.value.lines)


def test_a_mistake_is_said_only_where_every_input_agrees_with_it():
    assert "You took a power." in said(lambda a, b: a**b)
    assert "You multiplied." in said(lambda a, b: a * b)


def test_the_first_mistake_is_said_though_the_answer_fails_later_too():
    def answer(a, b):
        if a > 2:
            raise ValueError("too large")
        return a * b

    words = said(answer)
    assert "on two and two" in words and "a = 2, b = 2" in words and "You multiplied." in words


def test_an_answer_that_fits_no_mistake_is_told_none():
    words = said(lambda a, b: a + b - 1)
    assert "Add one." in words and "the sum is 3, and should be 5" in words


@pytest.mark.parametrize("got", [None, "5", [5], 5.5, True, torch.tensor([5]), {}])
def test_a_value_of_another_kind_is_no_position(got):
    assert not agree(got, 5) and agree(torch.tensor(5), 5)


def test_decimals_are_compared_within_a_tolerance():
    assert agree(torch.tensor([1.00001, 2]), (1.0, 2.0)) and agree(float("nan"), float("nan")) and agree(2, 2.0)
    assert not agree([1.01, 2.0], (1.0, 2.0)) and not agree(float("nan"), 1.0) and not agree(float("inf"), 1.0)


def test_only_infinity_is_near_infinity():
    never = float("inf")
    assert agree(never, never) and not any(agree(got, never) for got in (0, 7.5, -never, float("nan")))
