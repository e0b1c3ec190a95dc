"""Probes against scikit-learn directly, and controls that no vector can explain."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from support.small_runs import small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.interpretation.contexts import word_vectors
from bertedu.interpretation.probing import (
    LayerScore,
    Probe,
    TaggedVectors,
    control_labels,
    majority_accuracy,
    probe_layers,
    tagged_vectors,
)


def clouds(count: int, seed: int) -> tuple[torch.Tensor, list[str]]:
    """Three overlapping clouds, whose entries have very different sizes."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.arange(count) % 3
    vectors = torch.randn(count, 4, generator=generator)
    vectors[:, 0] += 1.5 * numbers
    return vectors * torch.tensor([0.001, 1.0, 100.0, 1.0]) + 5, [("noun", "verb", "other")[n] for n in numbers]


def test_a_probe_sees_standardized_entries_and_no_test_words():
    (known, labels), (asked, answers) = clouds(90, 0), clouds(60, 1)
    mean, deviation = known.double().numpy().mean(axis=0), known.double().numpy().std(axis=0)
    reference = LogisticRegression(max_iter=1000).fit((known.double().numpy() - mean) / deviation, labels)
    guesses = reference.predict((asked.double().numpy() - mean) / deviation)
    probe = Probe().fit(known, labels)
    assert probe.predict(asked) == guesses.tolist()
    assert probe.accuracy(asked, answers) == pytest.approx(np.mean(guesses == np.array(answers)))
    assert 0.5 < probe.accuracy(asked, answers) < 1


def test_a_probe_with_nothing_to_tell_apart_is_refused():
    with pytest.raises(UserError, match="tells labels apart, and there are 1"):
        Probe().fit(torch.randn(3, 2), ["a", "a", "a"])
    with pytest.raises(UserError, match="3 vectors and 2 labels"):
        Probe().fit(torch.randn(3, 2), ["a", "b"])


def test_a_word_has_the_same_control_label_in_test():
    train = control_labels(["the", "cat", "sat", "the"], 5, seed=3)
    assert train[0] == train[3] and control_labels(["sat", "a", "The"], 5, seed=3)[::2] == [train[2], train[0]]
    words = [f"word{number}" for number in range(3000)]
    labels = control_labels(words, 3, seed=0)
    assert np.bincount(labels) == pytest.approx([1000] * 3, abs=120), "not drawn evenly"
    again = np.array(control_labels(words, 3, seed=1))
    assert np.mean(np.array(labels) == again) == pytest.approx(1 / 3, abs=0.05), "the seed changes nothing"
    with pytest.raises(UserError, match="number_of_labels is 1"):
        control_labels(["the"], 1)


def test_words_get_their_own_vectors():
    model, tokenizer = small_model(), small_tokenizer()
    sentences = [[("The", "D"), ("cats", "N"), (",", "P"), ("sat", "V")], [("paris", "N")]]
    tagged = tagged_vectors(model, tokenizer, sentences)
    assert tagged.vectors.shape == (5, 3, 16)
    assert tagged.words == ["The", "cats", ",", "sat", "paris"] and tagged.labels == ["D", "N", "P", "V", "N"]
    for row, word in ((0, "the"), (1, "cats"), (3, "sat")):
        expected = word_vectors(model, tokenizer, ["The cats , sat"], word)[0]
        assert torch.allclose(tagged.vectors[row], expected, atol=1e-5)


def layered(count: int, seed: int) -> TaggedVectors:
    """Layer 0 is noise, layer 1 shows the label and not the word, layer 2 shows the word."""
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(0, 10, (count,), generator=generator)
    labels = ["noun" if kind < 5 else "verb" for kind in kinds.tolist()]
    noise = torch.randn(count, 10, generator=generator)
    shows_label = 0.1 * noise + torch.stack([kinds < 5, kinds >= 5] * 5, dim=1).float()
    shows_word = 0.1 * noise + torch.eye(10)[kinds]
    return TaggedVectors(
        torch.stack([noise, shows_label, shows_word], dim=1), [f"w{kind}" for kind in kinds.tolist()], labels
    )


def test_layers_are_probed_in_order_and_controls_on_the_control_labels():
    train, test = layered(300, 0), layered(200, 1)
    noise, label, word = probe_layers(train, test)
    assert [score.layer for score in (noise, label, word)] == [0, 1, 2]
    assert noise.accuracy < 0.65 and label.accuracy > 0.97 and word.accuracy > 0.97
    assert label.control_accuracy < 0.85 and word.control_accuracy > 0.97
    assert label.selectivity > 0.15 and word.selectivity < 0.03
    assert LayerScore(0, 0.9, 0.6).selectivity == pytest.approx(0.3)


def test_the_floor_is_the_commonest_label_of_training():
    train = TaggedVectors(torch.zeros(3, 1, 1), list("abc"), ["noun", "verb", "noun"])
    test = TaggedVectors(torch.zeros(4, 1, 1), list("abcd"), ["verb", "verb", "verb", "noun"])
    assert majority_accuracy(train, test) == 0.25
