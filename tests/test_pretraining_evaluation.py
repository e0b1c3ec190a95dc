"""The figures of a model on held-out text, against counting by hand."""

import json
import math
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from support.made_up_text import made_up_corpus

from bertedu.corpora.documents import Corpus, Document, FactProbe, SenseExample
from bertedu.pretraining.evaluation import Evaluation
from bertedu.pretraining.objectives.pairs import segments
from bertedu.pretraining.run import make_model, make_task
from bertedu.pretraining.scoring import pad_together, score
from bertedu.pretraining.settings import PretrainingSettings


class Oracle(torch.nn.Module):
    """Gives word 7 the probability 1/2 everywhere, and calls every pair IsNext."""

    def __init__(self, vocab_size: int = 11):
        super().__init__()
        self.next_sentence, self.vocab_size = torch.nn.Linear(2, 2), vocab_size

    def forward(self, input_ids, attention_mask, token_type_ids, masked_positions):
        assert not self.training, "dropout would be on"
        words = torch.zeros(int(masked_positions.sum()), self.vocab_size)
        words[:, 7] = math.log(self.vocab_size - 1)
        follows = torch.tensor([[1.0, 0.0]]).expand(len(input_ids), 2)
        return SimpleNamespace(prediction_logits=words, seq_relationship_logits=follows)


def batch(labels: list[list[int]], next_sentence_label: list[int]) -> dict[str, torch.Tensor]:
    ids = torch.ones(len(labels), len(labels[0]), dtype=torch.long)
    label = {"labels": torch.tensor(labels), "next_sentence_label": torch.tensor(next_sentence_label)}
    return {"input_ids": ids, "attention_mask": ids, "token_type_ids": ids, **label}


def test_scores_by_hand():
    """Words count alike whatever their batch; NSP is the mean over the two kinds of pairs."""
    batches = [batch([[7, -100], [-100, 3]], [0, 1]), batch([[7, 7, 7], [7, -100, -100]], [0, 0])]
    model = Oracle()
    model.train()
    found = score(model, batches)
    assert (found["masked_words"], found["pairs"]) == (6, 4)
    assert found["mlm_accuracy"] == pytest.approx(5 / 6)
    assert found["perplexity"] == pytest.approx(math.exp((5 * math.log(2) + math.log(20)) / 6))
    assert found["nsp_accuracy"] == 0.5, "three of four pairs are IsNext, and still a constant answer is worth 50 %"


def test_pairs_of_one_kind_are_scored_by_themselves():
    """The kind that does not occur must not count as all wrong."""
    assert score(Oracle(), [batch([[7], [7]], [0, 0])])["nsp_accuracy"] == 1.0
    assert score(Oracle(), [batch([[7], [7]], [1, 1])])["nsp_accuracy"] == 0.0


def test_batches_of_different_widths_are_padded_to_one():
    both = pad_together([batch([[1, 2]], [0]), batch([[3, 4, 5], [6, 7, 8]], [0, 0])], "labels", -100)
    assert both.tolist() == [[1, 2, -100], [3, 4, 5], [6, 7, 8]]


@pytest.fixture(scope="module")
def task():
    return make_task(made_up_corpus(), PretrainingSettings(vocab_size=120, max_length=24))


def test_every_held_out_set_gets_its_figures_beside_baselines(task):
    corpus = made_up_corpus()
    documents = corpus.heldout["held-out documents"]
    corpus = Corpus("made-up", corpus.train, [], {"one": documents, "two": documents, "empty": []})
    model = make_model(task)
    found = Evaluation(task, corpus)(model)
    assert list(found) == ["one", "two"] and found["one"] == found["two"]
    figures = found["one"]
    assert {"mlm_accuracy", "perplexity", "nsp_accuracy", "nsp_accuracy_same_source", "baselines"} <= figures.keys()
    baselines = figures["baselines"]
    words = [baselines[name]["mlm_accuracy"] for name in ("most frequent token", "unigram", "n-gram, both sides")]
    assert 0 < words[0] < words[1] < words[2] <= 1, "a visible word helps the unigram, neighbours help the n-gram"
    assert 0.5 < baselines["word overlap"]["nsp_accuracy"] <= 1, "each topic has its own words"
    assert baselines["unigram"]["perplexity"] < figures["perplexity"] < len(task.tokenizer), "an untrained start"


def test_the_same_model_gets_the_same_figures(task):
    model = make_model(task)
    evaluation = Evaluation(task, made_up_corpus())
    assert evaluation(model) == evaluation(model)


def test_segments_are_the_ids_of_each_pair(task):
    pairs = task.pairs.next_sentence_pairs(random.Random(0))[:5]
    first, second, labels = segments(task.train_text, pairs)
    for pair, a, b, label in zip(pairs, first, second, labels, strict=True):
        assert len(a) + len(b) == len(pair) and label == pair.label
        assert a.tolist() == task.train_text.tokens[pair.first[0] : pair.first[1]].tolist()


SHIPS = "ships cross the wide cold sea by night with salt"


def odd_corpus(**changes) -> Corpus:
    """With one question and one word's senses that fit a model of 16 positions, and others that do not."""
    short, long = "cats like warm", f"cats like warm milk and {SHIPS} and {SHIPS}"
    made = {
        "fact_probes": [FactProbe(f"{sentence} [MASK] .", "milk") for sentence in (short, long, short)],
        "sense_reference": [SenseExample(f"{word} {short}", word, sense) for word in ("sea", "salt") for sense in "ab"],
        "sense_heldout": [
            *(SenseExample(f"{short} {word}", word, sense) for word in ("sea", "salt") for sense in "ab"),
            SenseExample(f"{long} naps", "naps", "a"),
        ],
    }
    return replace(made_up_corpus(), **made, **changes)


def test_a_question_too_long_for_the_model_does_not_lose_a_trained_run():
    """With --max-length 16 the run trained, and then died over the program's own sentences."""
    corpus = odd_corpus()
    task = make_task(corpus, PretrainingSettings(vocab_size=120, max_length=16))
    evaluation = Evaluation(task, corpus)
    found = evaluation(make_model(task))
    assert found["facts"]["probes"] == 2 and 0 <= found["facts"]["accuracy"] <= 1
    assert found["senses"].keys() == {"sea", "salt"}
    assert found["held-out documents"]["masked_words"] > 0
    assert evaluation.notes == [
        "1 of 3 questions about facts have more tokens than the model has positions (16): they were left out.",
        "1 of 5 sentences whose sense is asked for have more tokens than the model has positions (16): they were "
        "left out.",
        "A sense without a sentence is left: naps could not be evaluated.",
    ]


def test_nothing_that_can_be_asked_does_not_lose_a_trained_run():
    corpus = odd_corpus(heldout={"blank": [Document(("…",), "a")], "none": []})
    task = make_task(corpus, PretrainingSettings(vocab_size=44, max_length=8))
    evaluation = Evaluation(task, corpus)
    found = evaluation(make_model(task))
    assert found.keys() <= {"blank", "facts"} and "senses" not in found
    assert any("3 of 3 questions about facts" in note for note in evaluation.notes)


@pytest.mark.parametrize("pairs", ["next", "order"])
def test_documents_of_one_sentence_do_not_lose_a_trained_run(pairs):
    """All pairs are strangers, or there is no pair at all: word overlap can tell nothing apart."""
    corpus = made_up_corpus()
    single = [Document(document.sentences[:1], "a") for document in corpus.train]
    task = make_task(replace(corpus, train=single), PretrainingSettings(vocab_size=120, max_length=24, pairs=pairs))
    evaluation = Evaluation(task, replace(corpus, heldout={"held-out documents": single}))
    figures = evaluation(make_model(task)).get("held-out documents")
    if pairs == "next":
        assert figures and "word overlap" not in figures["baselines"] and "unigram" in figures["baselines"]
    else:
        assert figures is None
        assert evaluation.notes == [
            "The held-out documents make no pair with a word to hide: they could not be evaluated."
        ]


class Sure(Oracle):
    """So sure of word 7 that no float holds the perplexity; or not even the loss."""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

    def forward(self, *given, **named):
        output = super().forward(*given, **named)
        output.prediction_logits *= self.scale
        return output


@pytest.mark.parametrize("scale", [1e4, float("inf")])
def test_a_huge_loss_is_a_number_in_valid_json(scale):
    found = score(Sure(scale), [batch([[3, -100]], [0])])
    assert found["perplexity"] == math.exp(700)
    json.dumps(found, allow_nan=False)
