"""The pictures of chapters 03 and 10 say without the prose what a number is: names of columns, counts, chance."""

import matplotlib
import numpy as np
import torch
from matplotlib.figure import Figure

from bertedu.chapters.ch03_self_attention import pictures as one_head
from bertedu.chapters.ch03_self_attention import pictures_heads as heads
from bertedu.chapters.ch10_text_classification import pictures as classification
from bertedu.chapters.ch10_text_classification import pictures_of_probabilities as probabilities
from bertedu.course.building.drawing import SETTINGS, svg_of, words_of

TOKENS = ["keys", "lamp", "[MASK]"]
X = torch.tensor([[1.0, 1, 1, 0], [1, -1, -1, 0], [0, 0, 0, 1]])
QUERY = torch.tensor([[0.0, 0, -1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [2, 2, 0, 0]])
KEY, VALUE = torch.eye(4), torch.tensor([[0.0], [0], [1], [0]])


def told_by(picture: Figure) -> list[str]:
    """The words and numbers in a picture, from the top down."""
    with matplotlib.rc_context(SETTINGS):
        return words_of(svg_of(picture))


def test_the_entries_of_a_vector_have_names():
    for picture in (
        one_head.three_vectors(X, QUERY, KEY, VALUE, TOKENS),
        one_head.picked(X, QUERY),
        one_head.by_hand(X, QUERY, KEY, VALUE, TOKENS),
    ):
        assert set(one_head.ENTRIES) <= set(told_by(picture))


def test_both_tables_of_attention_name_who_is_attended_to():
    told = told_by(one_head.all_tokens(X, QUERY, KEY, VALUE, TOKENS))
    assert [told.count(token) for token in TOKENS] == [3, 3, 3]  # the rows, and the columns of two tables


def test_the_bias_is_one_row_and_is_added_to_all():
    told = told_by(heads.mask_axes(torch.tensor([[1, 1, 1, 0, 0]])))
    assert told.count("low") == 2 * (1 + 5)


def test_two_models_that_differ_by_chance_are_told_to():
    bert = np.repeat([True, True, False, False], (193, 54, 51, 61))
    bags = np.repeat([True, False, True, False], (193, 54, 51, 61))
    assert any("54 against 51" in text and "85%" in text for text in told_by(classification.mcnemar(bert, bags)))


def test_the_reviews_of_all_bins_are_counted_and_few_have_no_column():
    confidence = np.repeat([0.45, 0.55, 0.95], (8, 44, 178))
    told = told_by(probabilities.reliability(np.ones(230, dtype=bool), confidence))
    assert {"8", "44", "178"} <= set(told) and told.count("100%") == 3  # the axis, and two columns
