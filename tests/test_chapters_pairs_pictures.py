"""The pictures of chapter 13: the numbers in them are those of the sentences and cosines that they show."""

from types import SimpleNamespace

import matplotlib
import torch
from matplotlib.figure import Figure
from support.task_rows import DATA, rows

from bertedu.chapters.ch13_pairs_and_similarity import pictures
from bertedu.course.building.drawing import SETTINGS, svg_of, words_of
from bertedu.tokenization import BertTokenizer


def told_by(picture: Figure) -> list[str]:
    """The words and numbers in a picture, from the top down."""
    with matplotlib.rc_context(SETTINGS):
        return words_of(svg_of(picture))


def test_a_low_temperature_makes_the_softmax_certain():
    told = told_by(pictures.temperature())
    assert {"0.44", "0.9996", "softmax, τ = 0.05"} <= set(told)
    assert f"{torch.tensor([0.9, 0.5, 0.4]).softmax(0)[0]:.2f}" in told


def test_two_premises_with_the_same_words_are_one_bag():
    """The picture's claim is about rows of the data: both premises stand there, and their counts are equal."""
    three = [row for row in rows("inference", "train") if row.pair == "The meeting is on Friday."]
    assert sorted(row.label for row in three) == ["contradiction", "entailment", "neutral"]
    told = told_by(pictures.same_words(three))
    assert [word for word in told if word in ("1", "2")] == ["1", "1", "1", "1", "1", "2", "1"] * 2


def test_the_second_sentence_has_the_other_token_type():
    tokenizer = BertTokenizer.from_pretrained(DATA / "checkpoints" / "mixed-mini")
    told = told_by(pictures.inputs(tokenizer))
    assert [word for word in told if word in ("0", "1")] == ["0"] * 6 + ["1"] * 5


def test_the_bug_is_drawn_beside_its_repair():
    labels = ("contradiction", "entailment", "neutral")
    reader = SimpleNamespace(task_config=SimpleNamespace(labels=labels))
    told = told_by(pictures.swapped(reader, 0.15, 0.73))
    assert {"equal numbers", "accuracy 0.15", "equal names", "accuracy 0.73"} <= set(told)
    assert all(told.count(label) == 4 for label in labels)
