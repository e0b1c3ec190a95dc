"""What tells two members apart: noise from seed to seed, losses of different vocabularies, and who is beaten."""

import math
import random
import statistics

import numpy as np
import pytest
from scipy.stats import ttest_ind

from bertedu.course import data_path
from bertedu.family.comparison import ALPHA, bits_per_character, fair_comparison, pareto_front, welch_test
from bertedu.files import read_json

BERT = [0.7166, 0.6535, 0.6901]  # on entities
ELECTRA = [0.29, 0.59, 0.47]


def test_three_scattered_seeds_are_not_told_from_three_close_ones():
    difference, error, p = welch_test(ELECTRA, BERT)
    assert difference == pytest.approx(-0.237, abs=1e-3) and error == pytest.approx(0.089, abs=1e-3)
    assert p == pytest.approx(0.105, abs=0.005)  # 2.7 standard errors, but the noise is known by two degrees of freedom
    assert p > ALPHA


def test_electra_of_the_published_comparison_is_not_told_from_bert():
    runs = read_json(data_path("family/results.json"))["runs"]
    scores = {
        name: [run["exams"]["entities"]["test"] for run in runs[name]]
        for name in ("electra", "bert", "distilbert-taught")
    }
    assert [round(score, 2) for score in scores["electra"]] == ELECTRA
    assert welch_test(scores["electra"], scores["bert"])[2] == pytest.approx(0.103, abs=0.001)
    assert welch_test(scores["distilbert-taught"], scores["bert"])[2] == pytest.approx(0.044, abs=0.001)
    tasks = {name: [mean_of_tasks(run) for run in runs[name]] for name in ("electra", "bert")}
    assert welch_test(tasks["electra"], tasks["bert"])[2] == pytest.approx(0.218, abs=0.001)


def mean_of_tasks(run):
    return statistics.mean(exam["test"] for exam in run["exams"].values())


def test_welch_is_that_of_scipy_for_all_numbers_of_seeds():
    draw = random.Random(0)
    for n, m in ((2, 2), (2, 5), (3, 3), (7, 4)):
        ours, theirs = [draw.gauss(0.6, 0.02) for _ in range(n)], [draw.gauss(0.65, 0.1) for _ in range(m)]
        difference, error, p = welch_test(ours, theirs)
        other = ttest_ind(ours, theirs, equal_var=False)
        assert difference / error == pytest.approx(other.statistic) and p == pytest.approx(other.pvalue)
        assert welch_test(theirs, ours) == pytest.approx((-difference, error, p))


def test_a_single_seed_tells_nothing():
    assert welch_test([0.9], [0.1]) == (pytest.approx(0.8), math.inf, 1.0)
    assert welch_test([0.9], [0.1, 0.11, 0.1])[1:] == (math.inf, 1.0)


def test_scores_without_any_noise_are_told_apart_where_they_differ():
    assert welch_test([0.4, 0.4], [0.4, 0.4]) == (0.0, 0.0, 1.0)
    assert welch_test([0.5, 0.5], [0.4, 0.4]) == (pytest.approx(0.1), 0.0, 0.0)


def test_an_unstable_member_is_marked_by_chance_no_more_often_than_the_others():
    draws = np.random.default_rng(0).normal(size=(3000, 11, 3)) * np.array([2.0, *[0.4] * 10])[:, None]
    marks = [welch_test(one[0], one[1])[2] < ALPHA for one in draws]
    others = [welch_test(one[2], one[1])[2] < ALPHA for one in draws]
    assert 0.02 < statistics.mean(marks) < 0.06 and 0.02 < statistics.mean(others) < 0.06  # pooled: 0.3 of the first


def noise(rate, seed):
    """Scores that no learning rate makes better: validation and test."""
    draw = random.Random(f"{rate} {seed}")
    return draw.gauss(0.6, 0.02), draw.gauss(0.6, 0.02)


def test_a_candidate_does_not_beat_itself():
    rates, seeds = range(10), range(20)
    assert fair_comparison(noise, noise, rates, [100, 101], seeds)[0] == 0
    found = [
        fair_comparison(noise, lambda rate, seed, of=of: noise(rate, f"{of} {seed}"), rates, [100, 101], seeds)
        for of in range(60)
    ]
    errors = [difference / error for difference, error, _ in found]
    assert abs(statistics.mean(errors)) < 1 and sum(p < ALPHA for *_, p in found) < 12


def test_neither_test_rows_nor_scored_seeds_choose_the_learning_rate():
    tested = []

    def fit(rate, seed):
        tested.append((rate, seed))
        return rate * (1 if seed >= 100 else -1), -rate  # the search says: the largest; anything else says the smallest

    assert fair_comparison(fit, fit, [1.0, 3.0, 2.0], [100, 101], [0, 1])[0] == 0
    assert {rate for rate, seed in tested if seed < 100} == {3.0}


def test_a_vocabulary_of_smaller_pieces_does_not_look_better():
    texts = ["an embankment"]
    whole = bits_per_character(texts, [["[CLS]", "an", "embankment", "[SEP]"]], [[5.0, 2.0, 6.0, 5.0]])
    pieces = bits_per_character(texts, [["<s>", "an", "em", "##bank", "##ment", "</s>"]], [[0, 2.0, 3.0, 2.0, 1.0, 0]])
    assert whole == pytest.approx(pieces) and whole == pytest.approx(8 / math.log(2) / 13)


def test_every_character_weighs_the_same():
    tokens, nats = [["ab"], ["c", "d", "e", "f"]], [[3.0], [1.0, 1.0, 1.0, 1.0]]
    assert bits_per_character(["ab", "cdefghij"], tokens, nats) == pytest.approx(7 / math.log(2) / 10)


def test_losses_are_matched_with_the_tokens_of_their_text():
    with pytest.raises(ValueError, match="zip"):
        bits_per_character(["ab"], [["a", "b"]], [[1.0]])


def test_a_beaten_point_leaves_the_front():
    points = {"A": (4, 0.80), "B": (6, 0.78), "C": (9, 0.84), "D": (2, 0.74), "E": (12, 0.84)}
    assert pareto_front(points) == ["D", "A", "C"]
    assert pareto_front({**points, "C again": (9, 0.84)}) == ["D", "A", "C", "C again"]
    assert pareto_front({"alone": (1.0, 0.0)}) == ["alone"] and pareto_front({}) == []
    assert pareto_front({"better": (2, 0.9), "as fast": (2, 0.8)}) == ["better"]


def test_the_front_has_every_point_that_nobody_beats():
    draw = random.Random(1)
    points = {str(number): (draw.random(), draw.random()) for number in range(60)}
    front = pareto_front(points)
    for name, (cost, score) in points.items():
        beaten = any(c <= cost and s >= score for other, (c, s) in points.items() if other != name)
        assert (name in front) != beaten
    assert [points[name] for name in front] == sorted(points[name] for name in front)
    assert statistics.mean(points[name][1] for name in front) > 0.5
