"""What tags words without a network, and whether it is as strong as it is said to be."""

import random

import pytest
from sklearn.linear_model import SGDClassifier

from bertedu.corpora.readers import TaggedWords
from bertedu.finetuning import tagging_baselines as baselines
from bertedu.finetuning.tagging_baselines import TABLE, features_for, linear_tags, shape, tagging_baselines

LINEAR = "linear model of the word and its neighbours"


def sentences(names: list[str], count: int) -> list[TaggedWords]:
    rng = random.Random(0)
    found = []
    for _ in range(count):
        tag, verb = rng.choice([("B-person", "sings"), ("B-place", "burns")])
        found.append(TaggedWords(("now", rng.choice(names), verb, "."), ("O", tag, "O", "O")))
    return found


def test_the_linear_model_knows_neighbours_and_no_tags_of_the_test():
    train, test = sentences(["Anna", "Rome", "Karl"], 60), sentences(["Bergen", "Otto"], 20)
    figures = tagging_baselines(train, test)
    assert figures[LINEAR]["f1"] == 1.0, "the verb behind the name tells"
    assert figures["most frequent tag of the word"]["f1"] == 0.0
    other = [TaggedWords(row.words, ("O",) * 4) for row in test]
    assert linear_tags(train, other) == linear_tags(train, test), "it looks at the right tags"


def test_one_tag_alone_is_learned():
    rows = [TaggedWords(("a", "b"), ("O", "O"))] * 3
    assert linear_tags(rows, rows) == [["O", "O"]] * 3


@pytest.mark.parametrize("tags", [2, 17, 32, 33, 133, 5000])
def test_many_tags_do_not_fill_the_memory_and_few_change_nothing_recorded(tags):
    features = features_for(tags)
    assert features * tags <= TABLE == 2**25 and features & (features - 1) == 0
    assert features == 2**20 if tags <= 32 else features * tags > TABLE / 4


def test_the_linear_model_keeps_no_more_numbers_than_it_may(monkeypatch):
    kept = []

    class Model(SGDClassifier):
        def predict(self, features):
            kept.append(self.coef_.size)
            return super().predict(features)

    monkeypatch.setattr("sklearn.linear_model.SGDClassifier", Model)
    monkeypatch.setattr(baselines, "TABLE", 2**14)
    rows = [TaggedWords(tuple(f"w{n}" for n in range(20)), tuple(f"T{n}" for n in range(20)))] * 5
    assert linear_tags(rows, rows) == [list(row.tags) for row in rows], "hashed more coarsely it still tells words"
    assert kept == [20 * 512]


def test_capitals_and_digits_look_different():
    assert [shape(word) for word in ("Anna", "anna", "NATO", "1st", "-", "", "é")] == [
        *("Aa", "aa", "AA", "0a", "..", "", "aa"),
    ]
