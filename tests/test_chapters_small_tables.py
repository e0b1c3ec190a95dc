"""Small tables: every number can be read where it belongs."""

import pytest
import torch

from bertedu import UserError
from bertedu.chapters.ch18_deberta_and_xlnet.small_tables import small_tables


def test_every_number_stands_in_its_cell():
    table = torch.tensor([[1.0, 2], [3, 4], [5, 6.25]])
    picture = small_tables({"one": table, "two": table.T.reshape(3, 2)}, ["a", "b", "c"], ["x", "y"], "two tables")
    axes, other = picture.figure.axes
    assert {text.get_position(): text.get_text() for text in axes.texts}[(1, 2)] == "6.25"
    assert {text.get_position(): text.get_text() for text in other.texts}[(1, 0)] == "3"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x", "y"]
    assert picture.alt == "two tables"


def test_a_table_of_truths_shows_no_numbers():
    picture = small_tables({"mask": torch.eye(3).bool()}, list("abc"), list("abc"), "a diagonal")
    assert not picture.figure.axes[0].texts
    assert picture.figure.axes[0].images[0].get_array()[1].tolist() == [0, 1, 0]


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(UserError, match=r"has the shape \[2, 3\]: give \[3, 3\]"):
        small_tables({"mask": torch.zeros(2, 3)}, list("abc"), list("abc"), "nothing")
