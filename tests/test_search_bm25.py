"""BM25: scores by hand, words as the course splits them, and nothing found by nothing."""

import math

import pytest

from bertedu.errors import UserError
from bertedu.search.bm25 import BM25Search, words_of

PASSAGES = [
    "The net has a hole. The boat has a net.",
    "A net; and boats, at the Café!",
    "The harbor at night",
    "A boat",
]


def by_hand(question: list[str], passages: list[list[str]], k1: float, b: float) -> list[float]:
    mean = sum(map(len, passages)) / len(passages)
    scores = []
    for passage in passages:
        score = 0.0
        for word in question:
            holding = sum(word in other for other in passages)
            idf = math.log(1 + (len(passages) - holding + 0.5) / (holding + 0.5))
            frequency = passage.count(word)
            score += idf * frequency / (frequency + k1 * (1 - b + b * len(passage) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (2.0, 0.0)])
def test_k1_b_and_the_length_count_as_in_the_formula(k1, b):
    search = BM25Search(PASSAGES, k1, b)
    for question in ("Which net has the boat?", "a night in a harbor"):
        expected = by_hand(words_of(question), [words_of(passage) for passage in PASSAGES], k1, b)
        assert search.scores(question).tolist() == pytest.approx(expected, abs=1e-6)
        (hits,) = search.search([question], 4)
        assert [number for number, _ in hits] == sorted(
            (number for number in range(4) if expected[number] > 0), key=lambda number: -expected[number]
        )


def test_words_lose_their_capitals_and_latin_ones_their_accents():
    assert words_of("Anna's Zoë’s it's") == ["anna", "zoe", "it"]
    assert words_of("Don't! Café-au-lait, 3.5% (Zoë)") == ["don't", "cafe", "au", "lait", "3.5", "zoe"]
    assert words_of("क्या Йод? 日本 ばら") == ["क्या", "йод", "日", "本", "ば", "ら"]
    assert words_of("Café-au-lait?") == ["cafe", "au", "lait"]
    hits = BM25Search(PASSAGES).search(["cafe", "NIGHT?"])
    assert [[number for number, _ in one] for one in hits] == [[1], [2]]


def test_the_mark_of_a_question_finds_nothing():
    search = BM25Search(["who is it?", "the net"])
    assert search.search(["the harbor?"], 2)[0][0][0] == 1
    assert len(search.search(["the harbor?"], 2)[0]) == 1


def test_a_passage_without_a_word_in_common_is_no_hit_and_an_unknown_word_finds_none():
    search = BM25Search(PASSAGES)
    assert search.search(["whale", "", "?!", "hole"]) == [[], [], [], [(0, pytest.approx(search.scores("hole")[0]))]]


@pytest.mark.parametrize(("values", "message"), [((-1.0, 0.5), "k1 is -1"), ((1.0, 1.5), "b is 1.5")])
def test_parameters_that_no_formula_has_are_refused(values, message):
    with pytest.raises(UserError, match=message):
        BM25Search(PASSAGES, *values)


def test_nothing_to_search_in_is_told_in_words():
    with pytest.raises(UserError, match="no passage"):
        BM25Search([])
    with pytest.raises(UserError, match="k is 0"):
        BM25Search(PASSAGES).search(["net"], 0)
