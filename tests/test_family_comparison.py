"""What tells two members apart: noise from seed to seed, losses of different vocabularies, and who is beaten."""

import math
import random
import statistics

import pytest

from bertedu.family.comparison import (
    bits_per_character,
    fair_comparison,
    pareto_front,
    pooled_deviation,
    standard_error,
    told_apart,
)

SCORES = {"bert": [0.60, 0.62, 0.64], "albert": [0.655, 0.655], "xlnet": [0.70]}


def test_the_noise_is_that_of_one_member_or_of_how_members_differ():
    assert pooled_deviation(SCORES) == pytest.approx(math.sqrt((2 * 0.0004 + 0) / 3))
    apart = {name: [score + place for score in of] for place, (name, of) in enumerate(SCORES.items())}
    assert pooled_deviation(apart) == pytest.approx(pooled_deviation(SCORES))


def test_a_member_with_one_seed_makes_the_noise_smaller():
    assert pooled_deviation({**SCORES, "electra": [0.1]}) == pooled_deviation(SCORES)


def test_a_single_seed_of_each_tells_two_members_apart():
    difference, error, told = told_apart({"bert": [0.1], "albert": [0.9]}, "albert", "bert")
    assert difference == pytest.approx(0.8) and error == math.inf and not told


def test_the_error_of_a_difference_forgets_one_of_the_two():
    s = pooled_deviation(SCORES)
    assert standard_error(SCORES, "albert", "bert") == pytest.approx(s * math.sqrt(1 / 2 + 1 / 3))
    assert standard_error(SCORES, "xlnet", "bert") == pytest.approx(s * math.sqrt(1 + 1 / 3))


def test_a_worse_member_is_never_told_apart():
    scores = {"bert": [0.60, 0.62, 0.64], "albert": [0.50, 0.52, 0.54]}
    assert told_apart(scores, "albert", "bert") == (pytest.approx(-0.1), pytest.approx(0.02 * math.sqrt(2 / 3)), True)
    assert told_apart(scores, "bert", "albert")[0] == pytest.approx(0.1)


def test_equal_members_are_told_apart_more_often_than_chance_allows():
    draw = random.Random(0)
    found = 0
    for _ in range(400):
        scores = {str(member): [draw.gauss(0.6, 0.02) for _ in range(3)] for member in range(11)}
        found += sum(told_apart(scores, str(member), "0")[2] for member in range(1, 11))
    assert 0.04 < found / 4000 < 0.08  # 0.0455 if s were known; s of 22 degrees of freedom makes 0.058 of it


def noise(rate, seed):
    """Scores that no learning rate makes better: validation and test."""
    draw = random.Random(f"{rate} {seed}")
    return draw.gauss(0.6, 0.02), draw.gauss(0.6, 0.02)


def test_a_candidate_beats_itself():
    rates, seeds = range(10), range(20)
    assert fair_comparison(noise, noise, rates, [100, 101], seeds)[0] == 0
    found = [
        fair_comparison(noise, lambda rate, seed, of=of: noise(rate, f"{of} {seed}"), rates, [100, 101], seeds)
        for of in range(60)
    ]
    errors = [difference / error for difference, error, _ in found]
    assert abs(statistics.mean(errors)) < 1 and sum(told for *_, told in found) < 12


def test_the_test_rows_or_the_scored_seeds_choose_the_learning_rate():
    tested = []

    def fit(rate, seed):
        tested.append((rate, seed))
        return rate * (1 if seed >= 100 else -1), -rate  # the search says: the largest; anything else says the smallest

    assert fair_comparison(fit, fit, [1.0, 3.0, 2.0], [100, 101], [0, 1])[0] == 0
    assert {rate for rate, seed in tested if seed < 100} == {3.0}


def test_a_vocabulary_of_smaller_pieces_looks_better():
    texts = ["an embankment"]
    whole = bits_per_character(texts, [["[CLS]", "an", "embankment", "[SEP]"]], [[5.0, 2.0, 6.0, 5.0]])
    pieces = bits_per_character(texts, [["<s>", "an", "em", "##bank", "##ment", "</s>"]], [[0, 2.0, 3.0, 2.0, 1.0, 0]])
    assert whole == pytest.approx(pieces) and whole == pytest.approx(8 / math.log(2) / 13)


def test_a_short_text_weighs_as_much_as_a_long_one():
    tokens, nats = [["ab"], ["c", "d", "e", "f"]], [[3.0], [1.0, 1.0, 1.0, 1.0]]
    assert bits_per_character(["ab", "cdefghij"], tokens, nats) == pytest.approx(7 / math.log(2) / 10)


def test_losses_are_matched_with_the_tokens_of_another_text():
    with pytest.raises(ValueError, match="zip"):
        bits_per_character(["ab"], [["a", "b"]], [[1.0]])


def test_a_beaten_point_stays_on_the_front():
    points = {"A": (4, 0.80), "B": (6, 0.78), "C": (9, 0.84), "D": (2, 0.74), "E": (12, 0.84)}
    assert pareto_front(points) == ["D", "A", "C"]
    assert pareto_front({**points, "C again": (9, 0.84)}) == ["D", "A", "C", "C again"]
    assert pareto_front({"alone": (1.0, 0.0)}) == ["alone"] and pareto_front({}) == []
    assert pareto_front({"better": (2, 0.9), "as fast": (2, 0.8)}) == ["better"]


def test_the_front_misses_a_point_that_nobody_beats():
    draw = random.Random(1)
    points = {str(number): (draw.random(), draw.random()) for number in range(60)}
    front = pareto_front(points)
    for name, (cost, score) in points.items():
        beaten = any(c <= cost and s >= score for other, (c, s) in points.items() if other != name)
        assert (name in front) != beaten
    assert [points[name] for name in front] == sorted(points[name] for name in front)
    assert statistics.mean(points[name][1] for name in front) > 0.5
