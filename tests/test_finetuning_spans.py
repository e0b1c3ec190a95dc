"""Entities counted as the CoNLL evaluation counts them: equal to seqeval on ten thousand random sentences."""

import random

import pytest
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

from bertedu.finetuning.spans import entity_figures, span_tags, tag_spans


def random_tags(rng: random.Random, positions: str) -> list[str]:
    tags = ["O"] + [f"{position}-{kind}" for position in positions for kind in ("person", "place")]
    return rng.choices(tags, weights=[3] + [1] * (len(tags) - 1), k=rng.randint(1, 12))


@pytest.mark.parametrize("positions", ["BI", "BIES"])
def test_broken_tags_are_read_as_by_seqeval(positions):
    rng = random.Random(0)
    for _ in range(5000):
        tags = random_tags(rng, positions)
        assert tag_spans(tags) == [(kind, first, last + 1) for kind, first, last in get_entities(tags)], tags


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # seqeval's own, for sentences without entities
def test_figures_are_those_of_seqeval():
    rng = random.Random(1)
    for _ in range(200):
        right = [random_tags(rng, "BI") for _ in range(rng.randint(1, 8))]
        found = [
            [tag if rng.random() < 0.8 else rng.choice(["O", "B-person", "I-place"]) for tag in row] for row in right
        ]
        figures = entity_figures(right, found)
        assert figures["precision"] == pytest.approx(precision_score(right, found, zero_division=0))
        assert figures["recall"] == pytest.approx(recall_score(right, found, zero_division=0))
        assert figures["f1"] == pytest.approx(f1_score(right, found, zero_division=0))
        report = classification_report(right, found, output_dict=True, zero_division=0)
        for kind in ("person", "place"):
            if kind in report:
                assert figures[f"f1_{kind}"] == pytest.approx(report[kind]["f1-score"])


def test_spans_and_tags_are_each_others_way_back():
    spans = [("x", 0, 2), ("x", 2, 3), ("y", 4, 6)]
    tags = span_tags(spans, 7)
    assert tags == ["B-x", "I-x", "B-x", "O", "B-y", "I-y", "O"]
    assert tag_spans(tags) == spans


def test_sentences_without_entities_have_figures_of_0():
    assert entity_figures([["O"]], [["O"]]) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
