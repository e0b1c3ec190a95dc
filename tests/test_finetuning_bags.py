"""Baselines of bags of words on the data that break them."""

import math

import pytest

from bertedu.corpora.readers import LabelledText
from bertedu.finetuning.bags import bags_of_words
from bertedu.finetuning.kinds import KINDS


@pytest.mark.parametrize("task", ["classification", "similarity"])
def test_texts_without_a_word_end_a_run_in_a_traceback(task):
    rows = [LabelledText("!!", "x" if task == "classification" else 1.0, "?")] * 3
    rows += [LabelledText("??", "y" if task == "classification" else 2.0, "!")] * 3
    for figures in KINDS[task].baselines(rows, rows).values():
        assert all(math.isfinite(value) for value in figures.values())


def test_a_class_that_validation_took_ends_a_run_in_a_traceback():
    train, test = [LabelledText("a b", "x")] * 5, [LabelledText("a b", "x"), LabelledText("c", "y")]
    assert KINDS["classification"].baselines(train, test)["bag of words"]["accuracy"] == 0.5


def test_a_word_of_one_letter_is_left_out():
    assert sorted(bags_of_words(["I saw a B."]).vocabulary_) == ["a", "b", "i", "saw"]
    assert sorted(bags_of_words([":-) :-("]).vocabulary_) == [":-(", ":-)"]
