"""Windows, subsampling and negatives: what word2vec, GloVe and fastText share, against counts by hand."""

import numpy as np
import pytest
import torch
from gensim.models import Word2Vec
from torch.testing import assert_close

from bertedu import UserError
from bertedu.before.words import (
    flat,
    keep_probabilities,
    nearest_words,
    noise_distribution,
    whole_words,
    window_pairs,
)


def everything(vocab_size: int) -> torch.Tensor:
    return torch.ones(vocab_size)


def test_a_window_ends_with_its_sentence():
    tokenizer = whole_words(["a b", "c d"])
    words, sentences = flat(["a b", "c d"], tokenizer)
    pairs = window_pairs(words, sentences, 5, everything(len(tokenizer)), torch.Generator().manual_seed(0))
    found = {tuple(tokenizer.convert_ids_to_tokens(pair)) for pair in torch.stack(pairs, dim=1).tolist()}
    assert found == {("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")}


def test_far_words_come_up_less_often_than_near_ones():
    words = torch.arange(9)
    counts = torch.zeros(9)
    for seed in range(2000):
        pairs = window_pairs(words, words * 0, 4, everything(9), torch.Generator().manual_seed(seed))
        counts += torch.bincount(pairs[1][pairs[0] == 4], minlength=9)
    shares = counts / 2000  # a window of 1 to 4, drawn evenly: the word at distance d is inside in (5 - d) of 4 draws
    assert_close(shares, torch.tensor([1, 2, 3, 4, 0, 4, 3, 2, 1]) / 4, atol=0.04, rtol=0)


def test_frequent_words_are_left_out_before_windows_form():
    words, keep = torch.tensor([0, 1, 2]), torch.tensor([1.0, 0.0, 1.0])
    centers, contexts = window_pairs(words, words * 0, 1, keep, torch.Generator().manual_seed(0))
    assert {(int(a), int(b)) for a, b in zip(centers, contexts, strict=True)} == {(0, 2), (2, 0)}


def test_rare_words_are_not_left_out():
    keep = keep_probabilities(torch.tensor([9900.0, 99.0, 1.0]), threshold=1e-2)
    assert_close(keep, torch.tensor([(0.01 / 0.99) ** 0.5, 1.0, 1.0]))


def test_negatives_are_drawn_by_the_power_of_their_count():
    counts = {"often": 81, "some": 16, "rare": 1}
    model = Word2Vec(vector_size=2, min_count=1)
    model.build_vocab_from_freq(counts)
    theirs = np.diff(model.cum_table.astype(np.float64), prepend=0) / model.cum_table[-1]
    ours = noise_distribution(torch.tensor([81, 16, 1]))
    assert_close(ours, torch.tensor([27.0, 8.0, 1.0]) / 36)
    assert_close(ours.numpy(), theirs.astype(np.float32), atol=1e-6, rtol=0)


def test_a_text_without_words_is_refused_at_once():
    with pytest.raises(UserError, match="at least one sentence"):
        flat([""], whole_words(["a"]))


def test_the_nearest_word_goes_by_angle_and_not_by_length():
    vectors = torch.tensor([[9.0, 9.0], [0.0, 1.0], [1.0, 0.1]])
    assert nearest_words(vectors, torch.tensor([[0.0, 2.0]]), 2).tolist() == [[1, 0]]
