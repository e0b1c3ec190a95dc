"""What the benchmark of search decides: what is measured again, who validates, what is timed."""

import copy
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.search_models import KINDS, PASSAGES, TOKENIZER, small

from bertedu.search.bm25 import BM25Search
from bertedu.search.collection import Asked, Collection

BENCHMARKS = str(Path(__file__).resolve().parents[1] / "benchmarks")


@pytest.fixture(scope="module")
def harness() -> Iterator[SimpleNamespace]:
    """The benchmark's modules, which import each other as a script's neighbours do."""
    sys.path.insert(0, BENCHMARKS)
    yield SimpleNamespace(**{name: import_module(name) for name in ("search", "search_sets", "search_ways")})
    sys.path.remove(BENCHMARKS)


def test_only_what_an_earlier_recipe_did_not_touch_is_kept(harness):
    about = harness.search.recipes(1.0)
    ways = {way: {"0": {"mrr": 0.5}} for way in harness.search_ways.WAYS}
    before = {**copy.deepcopy(about), "sets": {name: {"asked": 3, "ways": dict(ways)} for name in about["steps"]}}
    assert harness.search.still_true(before, about) == before["sets"]
    before["steps"]["public"]["SPLADE"] += 1
    before["negatives"]["cross-encoder"] = 3
    of_cross_encoder = {way for way in ways if ", reranked" in way}
    left = {name: set(ways) - set(one["ways"]) for name, one in harness.search.still_true(before, about).items()}
    assert left == {"public": {"SPLADE", *of_cross_encoder}, "stories": of_cross_encoder} and len(of_cross_encoder) == 3
    assert harness.search.still_true({**before, "model": "another"}, about) == {}


def test_validation_questions_are_not_learned_from(harness):
    collection = Collection()
    train = [Asked(f"q{number}", collection.add(f"passage {number // 2}")) for number in range(400)]
    test = [Asked("t", collection.add("passage of the test"))]
    room = harness.search_sets.Room("stories", collection, train, test)
    validated, learned = ({row.passage for row in rows} for rows in (room.validation, room.remaining))
    assert validated and not validated & learned and len(room.validation) <= harness.search_sets.HELD_OUT
    assert validated <= room.not_negative and test[0].passage in room.not_negative
    assert not learned & room.not_negative and len(room.remaining) > 300


def test_a_remembered_score_is_the_computed_one_and_is_not_timed(harness):
    """Scores that another way has looked up are the same, and while queries are timed all pairs are read."""
    model, first = small(KINDS["cross"]), BM25Search(PASSAGES)
    plain = harness.search_ways.RerankedSearch(first, model, TOKENIZER, PASSAGES)
    search = harness.search_ways.RememberingSearch(first, model, TOKENIZER, PASSAGES)
    search.known, expected = {}, plain.search(["a e", "m"])
    search.search(["m"])
    for found, wanted in zip(search.search(["a e", "m"]), expected, strict=True):
        assert [number for number, _ in found] == [number for number, _ in wanted]
        assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-5)
    read = []
    model.register_forward_hook(lambda *given: read.append(len(given[1])))
    search.search(["a e"])
    assert not read
    figures = harness.search.measured(search, [Asked("a e", 0), Asked("m", 2)])
    assert len(read) == 2 and set(figures) == {"recall_at_10", "mrr", "milliseconds"}  # once for each that is timed
