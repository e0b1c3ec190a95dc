"""What the benchmark of fine-tuning adds to the package: both orders of a pair, and the bag of words beside BERT."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from bertedu.corpora.readers import LabelledText

BENCHMARKS = str(Path(__file__).resolve().parents[1] / "benchmarks")
PAIRS = [LabelledText("aa", 1.0, "b"), LabelledText("c", 2.0, "dddd")]


@pytest.fixture(scope="module")
def harness() -> Iterator[ModuleType]:
    """The benchmark's module, which imports its neighbour as a script does."""
    sys.path.insert(0, BENCHMARKS)
    yield import_module("finetuning")
    sys.path.remove(BENCHMARKS)


def test_an_exchanged_pair_keeps_its_score_and_the_mean_is_of_both_orders(harness):
    assert harness.both_orders(PAIRS) == [*PAIRS, LabelledText("b", 1.0, "aa"), LabelledText("dddd", 2.0, "c")]
    task = SimpleNamespace(
        predictions=lambda _, rows: [np.array([10.0 * len(row.text) + len(row.pair)]) for row in rows]
    )
    found = harness.mean_of_orders(task, None, PAIRS, [])
    assert found.tolist() == [[(21 + 12) / 2], [(14 + 41) / 2]]


def test_the_bag_decides_where_the_model_cannot(harness):
    """A model that can't decide: the bag alone decides, by the words that it saw. A sure one is not overruled."""
    train = [LabelledText(f"{word} film", label) for word, label in (("good", "yes"), ("bad", "no")) for _ in range(4)]
    asked = [LabelledText("bad film", "no"), LabelledText("good film", "yes")]
    labels = ("no", "yes")
    for logits, expected in (([0.0, 0.0], [0, 1]), ([0.0, 50.0], [1, 1])):
        task = SimpleNamespace(
            labels=labels,
            target=lambda row: labels.index(row.label),
            predictions=lambda _, rows, logits=logits: [np.array(logits) for _ in rows],
        )
        assert harness.with_bag(task, None, asked, train).argmax(axis=1).tolist() == expected
