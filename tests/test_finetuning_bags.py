"""Baselines of bags of words on the data that break them."""

import math

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from bertedu.corpora.readers import LabelledText
from bertedu.finetuning import labels
from bertedu.finetuning.bags import bag_cosines, bags_of_words, compared_words, words_by_place
from bertedu.registry import TASKS


@pytest.mark.parametrize("task", ["classification", "regression", "similarity"])
def test_texts_without_a_word_have_finite_figures(task):
    rows = [LabelledText("!!", "x" if task == "classification" else 1.0, "?")] * 3
    rows += [LabelledText("??", "y" if task == "classification" else 2.0, "!")] * 3
    for figures in TASKS[task].baselines(rows, rows).values():
        assert all(math.isfinite(value) for value in figures.values())


def test_a_class_that_validation_took_does_not_end_the_run():
    train, test = [LabelledText("a b", "x")] * 5, [LabelledText("a b", "x"), LabelledText("c", "y")]
    assert TASKS["classification"].baselines(train, test)["bag of words"]["accuracy"] == 0.5


def test_a_word_of_one_letter_is_counted():
    assert sorted(bags_of_words(["I saw a B."]).vocabulary_) == ["a", "b", "i", "saw"]
    assert sorted(bags_of_words([":-) :-("]).vocabulary_) == [":-(", ":-)"]


def test_a_name_that_training_never_saw_counts_for_likeness():
    known = ["the cat saw the cat", "the dog ate", "the bird sang"]
    same, other = bag_cosines([("the Zoltan", "the Zoltan ate"), ("the Zoltan", "the Ottilie ate")], known)
    assert same > 0.7 and other < 0.2
    assert bag_cosines([("the cat", "the cat ate")], known) < same  # one text has the cat


def test_bags_of_known_words_are_weighed_as_by_scikit_learn():
    known = ["the cat saw a cat", "the dog ate", "a bird sang", "the bird ate"]
    pairs = [("the cat ate", "a cat sang"), ("the dog saw a bird", "the bird ate the bird"), ("a dog", "the cat")]
    vectorizer = TfidfVectorizer(token_pattern=r"\w+").fit(known)
    first, second = (vectorizer.transform([pair[side] for pair in pairs]).toarray() for side in (0, 1))
    np.testing.assert_allclose(bag_cosines(pairs, known), (first * second).sum(axis=1), atol=1e-12)


def test_comparing_words_knows_which_text_holds_them():
    assert words_by_place(("A wet dog ran.", "A cat ran")) == [
        ("first", "dog"), ("first", "wet"), ("second", "cat"), ("both", "a"), ("both", "ran"),
    ]  # fmt: skip
    pairs = [("a wet dog ran", "a dog ran"), ("a dog ran", "a wet dog ran"), ("!!", "??")]
    found = compared_words(pairs).transform(pairs)[:, -3:].toarray()
    np.testing.assert_allclose(found, [[3 / 4, 1, 3 / 4], [1, 3 / 4, 3 / 4], [0, 0, 0]])


def test_a_baseline_of_pairs_lays_word_beside_word():
    """Whether the second text repeats the first: no single bag of both can know, whatever it learned."""
    words = [f"word{number}" for number in range(60)]
    generator = np.random.default_rng(0)
    rows = []
    for number in range(300):
        first, other = generator.choice(60, 2, replace=False)
        same = number % 2 == 0
        rows.append(LabelledText(words[first], "same" if same else "other", words[first if same else other]))
    found = TASKS["classification"].baselines(rows[:200], rows[200:])
    assert found["words compared"]["accuracy"] == 1.0 and found["bag of words"]["accuracy"] < 0.8
    scores = [LabelledText(row.text, float(row.label == "same"), row.pair) for row in rows]
    assert TASKS["regression"].baselines(scores[:200], scores[200:])["words compared"]["spearman"] > 0.8
    single = [LabelledText(row.text, row.label) for row in rows]
    assert "words compared" not in TASKS["classification"].baselines(single, single)


@pytest.mark.parametrize("several", [False, True])
def test_thousands_of_classes_get_a_baseline_that_memory_has_room_for(several, monkeypatch):
    """A linear model over 10,000 classes and their words would have more weights than memory holds."""
    monkeypatch.setattr(labels, "MOST_WEIGHTS", 1000)
    names = [f"label {number}" for number in range(300)]
    rows = [LabelledText(f"word{number} here", (name,) if several else name) for number, name in enumerate(names)]
    kind = labels.MULTI_LABEL if several else labels.SINGLE_LABEL
    found = labels.classification_baselines(rows, rows[:50], kind)
    assert found["bag of words"]["micro_f1" if several else "accuracy"] == 1.0


def test_few_classes_keep_the_linear_baseline(monkeypatch):
    monkeypatch.setattr(labels, "nearest_scores", None)
    rows = [LabelledText(f"{name} word{number}", name) for number in range(20) for name in ("good", "bad")]
    assert labels.classification_baselines(rows, rows, labels.SINGLE_LABEL)["bag of words"]["accuracy"] == 1.0
