"""Guessing by counting: every number here can be checked with a pencil."""

import numpy as np
import pytest

from bertedu.errors import UserError
from bertedu.pretraining.baselines import NO_TOKEN, NGramBaseline, OverlapBaseline, UnigramBaseline

MASK = 9
V = 10


def row(*ids: int) -> np.ndarray:
    return np.array(ids)


def test_unigram_adds_one_sighting_for_each_token():
    baseline = UnigramBaseline.fit([row(0, 0), row(1)], vocab_size=3)
    np.testing.assert_allclose(baseline.probabilities, [3 / 6, 2 / 6, 1 / 6])


def test_unigram_scores_only_labelled_positions():
    baseline = UnigramBaseline.fit([row(0, 0, 1)], vocab_size=10)  # (2+1)/13, (1+1)/13, 1/13 ...
    input_ids, labels = row(MASK, MASK, 1, 1)[None], row(0, 1, -100, -100)[None]
    scores = baseline.evaluate(input_ids, labels, MASK)
    assert scores["accuracy"] == 0.5
    assert scores["perplexity"] == pytest.approx((3 / 13 * 2 / 13) ** -0.5)


def test_a_constant_guess_is_not_credited_with_the_words_that_masking_left_visible():
    """0 is the most frequent token. The visible 1 is right for the unigram, which reads it, not for always saying 0."""
    baseline = UnigramBaseline.fit([row(0, 0, 1)], vocab_size=V)
    input_ids, labels = row(MASK, 1, MASK, 0)[None], row(0, 1, 2, -100)[None]
    assert baseline.constant_accuracy(labels) == pytest.approx(1 / 3)
    assert baseline.evaluate(input_ids, labels, MASK)["accuracy"] == pytest.approx(2 / 3)


@pytest.fixture
def ngram() -> NGramBaseline:
    """1 2 3 three times and 1 4 3 once."""
    return NGramBaseline.fit([row(1, 2, 3)] * 3 + [row(1, 4, 3)], vocab_size=V)


def by_hand() -> np.ndarray:
    """P(word | 1 _ 3) of the fixture, from the formula in the docstring."""
    counts = np.array([0, 4, 3, 4, 1, 0, 0, 0, 0, 0])
    unigram = (counts + 1) / (12 + 10)
    beside = (np.array([0, 0, 3, 0, 1, 0, 0, 0, 0, 0]) + unigram) / 5  # after 1, and also before 3
    independent = beside**2 / unigram
    independent /= independent.sum()
    return (np.array([0, 0, 3, 0, 1, 0, 0, 0, 0, 0]) + independent) / 5


def test_ngram_equals_the_hand_calculation(ngram):
    np.testing.assert_allclose(ngram.distributions(row(1), row(3))[0], by_hand())


def test_every_ngram_distribution_sums_to_one(ngram):
    neighbours = np.array([(left, right) for left in range(NO_TOKEN, V) for right in range(NO_TOKEN, V)])
    probabilities = ngram.distributions(neighbours[:, 0], neighbours[:, 1])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities > 0).all()


def test_ngram_without_neighbours_is_the_unigram(ngram):
    nothing = ngram.distributions(row(NO_TOKEN), row(NO_TOKEN))[0]
    np.testing.assert_allclose(nothing, ngram.unigram.probabilities)


def test_ngram_does_not_read_over_the_end_of_a_sequence():
    ngram = NGramBaseline.fit([row(1, 2), row(3, 4)], vocab_size=V)
    assert ngram.distributions(row(2), row(NO_TOKEN))[0].argmax() != 3


def test_a_masked_neighbour_is_not_used(ngram):
    one_side = ngram.evaluate(row(1, MASK, MASK)[None], row(-100, 2, -100)[None], MASK)
    expected = ngram.distributions(row(1), row(NO_TOKEN))[0]
    assert one_side["perplexity"] == pytest.approx(1 / expected[2])


def test_both_visible_neighbours_are_used(ngram):
    scores = ngram.evaluate(row(1, MASK, 3)[None], row(-100, 2, -100)[None], MASK)
    assert scores == {"accuracy": 1.0, "perplexity": pytest.approx(1 / by_hand()[2])}


def test_a_visible_word_at_a_labelled_position_counts_as_evidence(ngram):
    """10 % are left and 10 % become one of V words: seeing 4 gives 4 the weight P(4), every other word P / V."""
    p = by_hand()
    weights = p / V
    weights[4] += p[4]
    scores = ngram.evaluate(row(1, 4, 3)[None], row(-100, 4, -100)[None], MASK)
    assert scores["perplexity"] == pytest.approx(weights.sum() / weights[4])
    assert scores["accuracy"] == 1.0


def test_seeing_one_word_does_not_change_the_next_distribution():
    """The unigram's one distribution is shared by all positions and must not be written to."""
    unigram = UnigramBaseline.fit([row(0, 0, 1)], vocab_size=V)
    before = unigram.probabilities.copy()
    unigram.evaluate(row(1, MASK)[None], row(1, 0)[None], MASK)
    np.testing.assert_array_equal(unigram.probabilities, before)


def test_chunks_give_the_same_as_one_piece(ngram, monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.integers(1, 5, (20, 30))
    input_ids = np.where(rng.random((20, 30)) < 0.5, MASK, labels)
    whole = ngram.evaluate(input_ids, labels, MASK)
    monkeypatch.setattr("bertedu.pretraining.baselines.CHUNK", 7)
    assert ngram.evaluate(input_ids, labels, MASK) == pytest.approx(whole)


def test_text_of_single_tokens_makes_an_ngram_baseline():
    ngram = NGramBaseline.fit([row(1), row(2)], vocab_size=V)
    assert ngram.distributions(row(1), row(2)).sum() == pytest.approx(1)


def test_a_baseline_of_no_text_is_refused():
    with pytest.raises(UserError, match="no token"):
        NGramBaseline.fit([row()], vocab_size=V)
    with pytest.raises(UserError, match="no token"):
        UnigramBaseline.fit([], vocab_size=V)


def test_text_without_labels_is_refused(ngram):
    with pytest.raises(UserError, match="no position"):
        ngram.evaluate(row(1, 2)[None], row(-100, -100)[None], MASK)


FIRST = [row(1, 2), row(3, 4), row(1, 2), row(3, 4)]
SECOND = [row(2, 5), row(4, 6), row(6, 6), row(5, 1)]


def test_overlap_equals_the_hand_calculation():
    """8 segments, 2 stands in 3 of them, 1 in 3, 5 in 2: weights log(9 / (count + 1))."""
    baseline = OverlapBaseline.fit(FIRST, SECOND, row(0, 0, 1, 1), vocab_size=7)
    common, rare = np.log(9 / 4) ** 2, np.log(9 / 3) ** 2
    expected = common / np.sqrt((common + common) * (common + rare))
    assert baseline.scores(FIRST[:1], SECOND[:1])[0] == pytest.approx(expected)


def test_overlap_learns_to_tell_pairs_that_share_words():
    baseline = OverlapBaseline.fit(FIRST, SECOND, row(0, 0, 1, 1), vocab_size=7)
    assert 0 < baseline.threshold < baseline.scores(FIRST[:1], SECOND[:1])[0]
    assert baseline.evaluate(FIRST, SECOND, row(0, 0, 1, 1)) == 1.0


def test_overlap_accuracy_is_balanced():
    """Nine strangers and one neighbour that shares nothing: always saying "stranger" is worth a half, not 90 %."""
    baseline = OverlapBaseline.fit(FIRST, SECOND, row(0, 0, 1, 1), vocab_size=7)
    assert baseline.evaluate([row(1)] * 10, [row(6)] * 10, row(0, *[1] * 9)) == 0.5


def test_overlap_on_pairs_of_one_kind_is_the_accuracy_on_these():
    """A small held-out text may make no neighbours at all; their mean would be nan, or count as all wrong."""
    baseline = OverlapBaseline.fit(FIRST, SECOND, row(0, 0, 1, 1), vocab_size=7)
    assert baseline.evaluate([row(1)] * 2, [row(6), row(1)], row(1, 1)) == 0.5
    assert baseline.evaluate([row(1)], [row(6)], row(1)) == 1.0


def test_overlap_keeps_equal_scores_on_one_side():
    """Three neighbours and a stranger with one score cannot be told apart: the best threshold lets all four pass."""
    first, second = [row(1)] * 7, [row(1)] * 4 + [row(2)] * 3
    labels = row(0, 0, 0, 1, 1, 1, 1)
    assert OverlapBaseline.fit(first, second, labels, vocab_size=4).evaluate(first, second, labels) == (1 + 3 / 4) / 2


def test_overlap_of_one_kind_of_pairs_is_refused():
    with pytest.raises(UserError, match="one kind"):
        OverlapBaseline.fit(FIRST, SECOND, row(0, 0, 0, 0), vocab_size=7)
