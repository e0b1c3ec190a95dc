"""Facts and senses, asked of models whose every answer is known beforehand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from bertedu.config import BertConfig
from bertedu.corpora.documents import FactProbe, SenseExample
from bertedu.errors import UserError
from bertedu.pretraining.baselines import NGramBaseline
from bertedu.pretraining.probes import (
    fact_probe_accuracy,
    ngram_probe_accuracy,
    sense_accuracy,
    sense_baseline_accuracy,
    sense_vectors,
)
from bertedu.tokenization import BertTokenizer

WORDS = "paris rome is the capital of france italy bank river money water cash a ##s deep"
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split()]
PROBES = [
    FactProbe("the capital of france is [MASK]", "paris"),
    FactProbe("[MASK] is the capital of italy", "rome"),
]


@pytest.fixture(scope="module")
def tokenizer() -> BertTokenizer:
    return BertTokenizer(VOCAB)


class Knowing(nn.Module):
    """At every position scores highest the word that `answers` gives for a word of the sentence."""

    def __init__(self, tokenizer: BertTokenizer, answers: dict[str, str]):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.answers = {tokenizer.vocab[word]: tokenizer.vocab[answer] for word, answer in answers.items()}
        self.size, self.was_training, self.had_gradients = len(tokenizer), [], []

    def forward(self, input_ids, token_type_ids, attention_mask, masked_positions):
        self.was_training.append(self.training)
        self.had_gradients.append(torch.is_grad_enabled())
        logits = torch.zeros(*input_ids.shape, self.size)
        for index, ids in enumerate(input_ids.tolist()):
            for token in ids:
                if token in self.answers:
                    logits[index, :, self.answers[token]] = 1
        return SimpleNamespace(prediction_logits=logits[masked_positions])


def test_facts_are_read_at_the_mask(tokenizer):
    assert fact_probe_accuracy(Knowing(tokenizer, {"france": "paris", "italy": "rome"}), tokenizer, PROBES) == 1
    assert fact_probe_accuracy(Knowing(tokenizer, {"france": "paris", "italy": "paris"}), tokenizer, PROBES) == 0.5


def test_probes_run_without_dropout_or_gradients_and_leave_the_mode_as_it_was(tokenizer):
    model = Knowing(tokenizer, {"france": "paris"}).train()
    fact_probe_accuracy(model, tokenizer, PROBES)
    assert model.was_training == [False] and model.had_gradients == [False] and model.training


def test_batches_keep_the_order_of_probes(tokenizer, monkeypatch):
    monkeypatch.setattr("bertedu.pretraining.probes.BATCH", 1)
    assert fact_probe_accuracy(Knowing(tokenizer, {"france": "paris", "italy": "rome"}), tokenizer, PROBES) == 1


def test_an_answer_of_two_tokens_counts_as_wrong(tokenizer):
    probes = [FactProbe("the capital of france is [MASK]", "banks"), FactProbe("france is [MASK]", "bank")]
    assert fact_probe_accuracy(Knowing(tokenizer, {"france": "bank"}), tokenizer, probes) == 0.5


def test_a_probe_without_a_mask_is_refused(tokenizer):
    with pytest.raises(UserError, match=r"has 0 \[MASK\]"):
        fact_probe_accuracy(Knowing(tokenizer, {}), tokenizer, [FactProbe("the capital", "paris")])
    with pytest.raises(UserError, match=r"no fact probes"):
        fact_probe_accuracy(Knowing(tokenizer, {}), tokenizer, [])


def test_ngrams_answer_from_the_neighbours_of_the_mask_alone(tokenizer):
    ids = [np.array(tokenizer.encode(text)) for text in ["rome is", "rome is", "is deep"]]
    baseline = NGramBaseline.fit(ids, len(tokenizer))
    assert ngram_probe_accuracy(baseline, tokenizer, PROBES[1:]) == 1
    assert ngram_probe_accuracy(baseline, tokenizer, PROBES[:1]) == 0


class Reading(nn.Module):
    """A body whose vector at each position is a sum of one-hot vectors of the words of the sentence."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.size = size
        self.config = BertConfig(size)

    def forward(self, input_ids, token_type_ids, attention_mask, output_hidden_states):
        words = nn.functional.one_hot(input_ids, self.size).float()
        context = (words * attention_mask[:, :, None]).sum(dim=1, keepdim=True)
        return SimpleNamespace(hidden_states=(words * 1e6, context + 0 * words, context + words))


def example(sentence: str, sense: str) -> SenseExample:
    return SenseExample(sentence, "bank", sense)


REFERENCE = [
    example("the bank of the river", "river"),
    example("the deep water of the bank", "river"),
    example("the river bank is deep", "river"),
    example("the money of the bank", "money"),
    example("the bank is cash", "money"),
    example("a bank of money", "money"),
]
HELD_OUT = [
    example("the deep river bank", "river"),
    example("a bank is money", "money"),
    example("cash the bank", "money"),
]


def test_senses_are_told_by_the_nearest_contexts(tokenizer):
    assert sense_accuracy(Reading(len(tokenizer)), tokenizer, REFERENCE, HELD_OUT, neighbours=1) == {"bank": 1.0}


def test_sense_accuracy_is_balanced(tokenizer):
    """Nine sentences of one sense told right and one of the other told wrong are worth a half."""
    heldout = [example("a bank is money", "money")] * 9 + [example("cash of the bank", "river")]
    assert sense_accuracy(Reading(len(tokenizer)), tokenizer, REFERENCE, heldout, neighbours=1) == {"bank": 0.5}


def test_the_word_vector_is_the_mean_over_layers_after_the_embeddings_at_the_word(tokenizer):
    vector = sense_vectors(Reading(len(tokenizer)), tokenizer, [example("a bank", "x")])
    expected = torch.zeros(len(tokenizer))
    for word, weight in (("[CLS]", 1), ("a", 1), ("bank", 1.5), ("[SEP]", 1)):
        expected[tokenizer.vocab[word]] = weight
    torch.testing.assert_close(vector[0], expected / expected.norm())


def test_padding_does_not_change_a_word_vector(tokenizer):
    alone = sense_vectors(Reading(len(tokenizer)), tokenizer, [HELD_OUT[0]])
    padded = sense_vectors(Reading(len(tokenizer)), tokenizer, [HELD_OUT[0], REFERENCE[1]])
    torch.testing.assert_close(alone[0], padded[0])


def test_a_word_that_stands_twice_is_refused(tokenizer):
    with pytest.raises(UserError, match="2 times"):
        sense_vectors(Reading(len(tokenizer)), tokenizer, [example("the bank of the bank", "money")])


def test_a_sense_without_reference_is_refused(tokenizer):
    with pytest.raises(UserError, match="river"):
        sense_accuracy(Reading(len(tokenizer)), tokenizer, REFERENCE[3:], HELD_OUT)
    with pytest.raises(UserError, match="no held-out"):
        sense_baseline_accuracy(REFERENCE, [])


def test_bags_of_words_tell_senses_by_shared_words():
    assert sense_baseline_accuracy(REFERENCE, HELD_OUT, neighbours=1) == {"bank": 1.0}
