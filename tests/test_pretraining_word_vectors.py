"""Word vectors by counting: against counts by hand, a dense decomposition, and words that are used alike."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from bertedu.pretraining.word_vectors import (
    SMALL,
    cooccurrences,
    positive_mutual_information,
    strongest_directions,
    word_vectors,
)


def test_neighbours_count_by_their_distance_and_both_ways():
    """A window that looks to one side only would make a word unlike the words that stand before it."""
    counts = cooccurrences(np.array([1, 2, 3, 1]), vocab_size=5, window=2).toarray()
    expected = np.zeros((5, 5))
    expected[1, 2] = 1  # distance 1, once
    expected[2, 3] = 1
    expected[3, 1] = 1 + 1 / 2  # 3 1 at distance 1; 1 2 3 at distance 2
    expected[2, 1] = 1 / 2  # 2 3 1
    assert np.allclose(counts, expected + expected.T)


def test_mutual_information_by_hand():
    """log P(a, b) / (P(a) · P(b)), the second one smoothed; what is below 0 is 0."""
    counts = cooccurrences(np.array([0, 1, 0, 1, 0, 2]), vocab_size=3, window=1)
    dense = counts.toarray()
    smoothed = dense.sum(axis=0) ** 0.75 / (dense.sum(axis=0) ** 0.75).sum()
    information = positive_mutual_information(counts).toarray()
    assert information[2, 0] == pytest.approx(np.log(dense[2, 0] / dense[2].sum() / smoothed[0]))
    assert information[0, 0] == 0 and (information >= 0).all()


def test_vectors_are_those_of_a_dense_decomposition():
    """The inner products are what counts: the sign and the order of the directions are free."""
    tokens = np.random.default_rng(0).zipf(1.5, 5000) % 30
    information = positive_mutual_information(cooccurrences(tokens, 30)).toarray()
    left, strengths, _ = np.linalg.svd(information)
    wanted = left[:, :6] * np.sqrt(strengths[:6])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    found = word_vectors(tokens, 30, 6)
    assert np.allclose(found @ found.T, wanted @ wanted.T, atol=1e-6)


def test_words_that_are_used_alike_point_the_same_way():
    """cat and dog never stand together, and share their neighbours."""
    rng = np.random.default_rng(1)
    the, cat, dog, barks, red, blue, car = range(1, 8)
    phrases = [(the, cat, barks), (the, dog, barks), (red, car, blue), (blue, car, red)]
    tokens = np.concatenate([phrases[i] for i in rng.integers(0, 4, size=2000)])
    vectors = word_vectors(tokens, 8, 4)
    assert vectors[cat] @ vectors[dog] > 0.9 > 0.5 > vectors[cat] @ vectors[red]


def test_ids_without_text_have_no_vector_and_small_vocabularies_are_filled_up():
    vectors = word_vectors(np.array([1, 2, 3, 1, 2]), vocab_size=6, size=80)
    assert vectors.shape == (6, 80) and np.isfinite(vectors).all()
    assert not vectors[[0, 4, 5]].any() and np.allclose(np.linalg.norm(vectors[1:4], axis=1), 1)


def test_a_small_vocabulary_is_decomposed_to_the_same_directions():
    """Lanczos' method and the dense one find the same directions."""
    rng = np.random.default_rng(2)
    wide = rng.normal(size=(SMALL + 1, 6)) * np.array([9, 7, 5, 4, 3, 2])
    matrix = csr_matrix(wide @ wide.T)  # symmetric, as counts of neighbors are
    products = []
    for found in (strongest_directions(matrix, 4), strongest_directions(matrix[:SMALL, :SMALL], 4)):
        vectors = (found[0] * np.sqrt(found[1]))[:SMALL]
        products.append(vectors @ vectors.T)
    assert np.allclose(products[0], products[1], rtol=0, atol=0.02 * np.abs(products[1]).max())


def test_a_text_with_few_directions_begins_the_same_each_time():
    """120 ids of which 40 always stand together: more directions are asked for than there are."""
    tokens = np.tile(np.arange(40), 30)
    first, second = (word_vectors(tokens, 120, 100) for _ in range(2))
    assert np.array_equal(first, second)


def test_rounding_gives_no_vector_to_an_id_without_text():
    """Asked for more directions than there are, the decomposition leaves tiny numbers there."""
    tokens = np.random.default_rng(1).zipf(1.4, 30_000) % 20
    vectors = word_vectors(tokens, SMALL + 200, 64)
    assert not vectors[20:].any() and vectors[:20].any(axis=1).all()
