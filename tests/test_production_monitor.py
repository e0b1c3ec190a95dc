"""The cache, the counts and the drift monitor: what a service remembers, and that it stays small."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest
import torch
from support.small_runs import small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.finetuning.classification import TextClassifier
from bertedu.production.cache import LARGEST, Cache, Digests
from bertedu.production.counts import KEPT, Counts
from bertedu.production.monitor import NEEDED, RECENT, Monitor, Reference, compared, reference_of
from bertedu.production.onnx_export import export
from bertedu.production.protocol import Asked

UNKNOWN = 1


def test_two_requests_have_different_digests():
    digests = Digests()
    several = [Asked("a"), Asked("a", ""), Asked("", "a"), Asked("a", "b"), Asked("ab"), Asked("a\x01b"), Asked("A")]
    assert len({digests.of(asked) for asked in several}) == len(several)
    assert digests.of(Asked("a", "b")) == digests.of(Asked("a", "b"))


def test_a_digest_in_a_log_cannot_be_looked_up():
    assert Digests().of(Asked("the room was cold")) != Digests().of(Asked("the room was cold"))


def test_the_cache_keeps_its_size_and_what_is_asked_for():
    cache = Cache(3)
    for name in "abc":
        cache.put(name, name.encode())
    assert cache.get("a") == b"a"
    cache.put("d", b"d")
    assert [cache.get(name) for name in "abcd"] == [b"a", None, b"c", b"d"] and len(cache) == 3
    cache.put("e", b"e" * (LARGEST + 1))
    assert cache.get("e") is None and len(cache) == 3
    nothing = Cache(0)
    nothing.put("a", b"a")
    assert nothing.get("a") is None


def test_an_answer_that_is_put_again_counts_as_new():
    cache = Cache(2)
    for name in ("a", "b", "a", "c"):
        cache.put(name, name.encode())
    assert cache.get("a") == b"a" and cache.get("b") is None


def test_quantiles_count_the_newest_answers_and_no_refusals():
    counts = Counts()
    for number in range(KEPT + 100):
        counts.request(200, number / 1000, True)
        counts.request(422, 0.0, True)
        counts.request(200, 0.0, False)
    report = counts.report()
    newest = np.arange(100, KEPT + 100)
    assert report["latency_ms"] == {
        "p50": float(np.quantile(newest, 0.5)),
        "p99": round(float(np.quantile(newest, 0.99)), 2),
    }
    assert report["by_status"] == {"200": 2 * (KEPT + 100), "422": KEPT + 100} and len(counts.seconds) == KEPT


def test_the_padding_share_is_taken_of_all_computed_tokens():
    counts = Counts()
    counts.batch(2, 15, 20)
    counts.batch(4, 15, 20)
    assert counts.report()["padding_share"] == 0.25 and counts.report()["rows_per_batch"] == 3.0


def test_new_pieces_of_the_reference_are_counted_against_the_others():
    texts = [[5, 6, 7], [5, 6, 8, 8], [5, 9]]
    right = [Fraction(1, 3), Fraction(2, 4), Fraction(1, 2)]  # 7, both 8, and 9 stand in no other text
    found = reference_of(texts, [0.5, 0.9, None], UNKNOWN)
    mean = sum(right) / 3
    assert found.new_pieces == pytest.approx((float(mean), float(sum((one - mean) ** 2 for one in right) / 3)))
    assert found.confidence == pytest.approx((0.7, 0.04)) and found.pieces == (5, 6, 7, 8, 9)


def texts(rng: random.Random, words: range, number: int, unknown: float = 0.0) -> list[list[int]]:
    return [[UNKNOWN if rng.random() < unknown else rng.choice(words) for _ in range(12)] for _ in range(number)]


def watched(monitor: Monitor, rows: list[list[int]], sure: float, rng: random.Random) -> list[str]:
    for row in rows:
        monitor.add(row, min(1.0, max(0.0, rng.gauss(sure, 0.1))))
    return monitor.report()["alarms"]


def test_no_alarm_is_raised_without_drift():
    for seed in range(20):
        rng = random.Random(seed)
        monitor = Monitor(UNKNOWN)
        assert watched(monitor, texts(rng, range(2, 400), NEEDED), 0.8, rng) == []
        assert watched(monitor, texts(rng, range(2, 400), RECENT), 0.8, rng) == [], seed


@pytest.mark.parametrize(
    "words, sure, unknown, alarm",
    [
        (range(2, 400), 0.7, 0.0, "confidence"),
        (range(200, 600), 0.8, 0.0, "new_pieces"),
        (range(2, 400), 0.8, 0.05, "unknown_pieces"),
    ],
)
def test_drift_is_noticed(words, sure, unknown, alarm):
    rng = random.Random(0)
    monitor = Monitor(UNKNOWN)
    watched(monitor, texts(rng, range(2, 400), NEEDED), 0.8, rng)
    assert alarm in watched(monitor, texts(rng, words, RECENT, unknown), sure, rng)
    back = watched(monitor, texts(rng, range(2, 400), RECENT), 0.8, rng)
    assert back == [], "the window holds what is long past"


def test_the_error_of_drift_counts_the_reference_as_a_sample_too():
    """The mean of few reference texts is uncertain, too: its part of the standard error is the larger one."""
    before, lately = (0.8, 0.04), [0.7] * 100
    right = (0.7 - 0.8) / (0.04 * (1 / 25 + 1 / 100)) ** 0.5
    assert compared(before, lately, texts=25)["standard_errors"] == pytest.approx(right, abs=0.05)
    assert abs(compared(before, lately, texts=25)["standard_errors"]) < 3 < 0.1 / (0.04 / 100) ** 0.5


def test_a_reference_is_the_same_after_it_was_saved(tmp_path):
    made = reference_of([[5, 6], [5, 7]], [None, None], UNKNOWN)
    assert made.confidence is None and Reference.load(tmp_path) is None
    made.save(tmp_path)
    assert Reference.load(tmp_path) == made
    (tmp_path / "reference.json").write_text('{"texts": 3}')
    with pytest.raises(UserError, match="damaged"):
        Reference.load(tmp_path)


def test_an_export_remembers_what_its_run_was_tested_on(tmp_path):
    model = small_model(TextClassifier, ("no", "yes"), initializer_range=0.4)
    model.save_pretrained(tmp_path / "run" / "checkpoint")
    small_tokenizer().save_pretrained(tmp_path / "run" / "checkpoint")
    rows = [{"text": "the cat"}, {"text": "the zebra", "pair": "a cat"}, {"text": "the " * 100}]  # the last is too long
    (tmp_path / "run" / "predictions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    export(tmp_path / "run", tmp_path / "exported")
    reference = Reference.load(tmp_path / "exported")
    encodings = [small_tokenizer()(row["text"], row.get("pair")) for row in rows[:2]]
    assert reference.texts == 2 and set(reference.pieces) == {i for one in encodings for i in one.input_ids[0].tolist()}
    assert reference.unknown_pieces == pytest.approx((0.5 / 7, (0.5 / 7) ** 2))  # of 7 pieces in the second, one
    with torch.no_grad():
        sure = [
            float(model(one.input_ids, one.attention_mask, one.token_type_ids).logits.softmax(-1).max())
            for one in encodings
        ]
    assert reference.confidence[0] == pytest.approx(sum(sure) / 2, abs=1e-5)
    assert not any(word in (tmp_path / "exported" / "reference.json").read_text() for word in ("zebra", "cat"))


def test_the_monitor_keeps_no_texts():
    monitor = Monitor(UNKNOWN, reference_of([[5, 6]], [0.5], UNKNOWN))
    for number in range(5000):
        monitor.add([number], 0.5)
    assert not monitor.first and len(monitor.recent) == RECENT
    assert all(isinstance(value, float) for row in monitor.recent for value in row)
