"""The pre-training task: masks, counts and losses as the paper defines them, the same for the same seed."""

import hashlib
import math

import pytest
import torch
from support.tiny_run import make_text, random_documents, tiny_model, tiny_task, tiny_tokenizer
from torch.nn.functional import cross_entropy, log_softmax

from bertedu.pretraining.objectives.pairs import MaskedWordsAndPairs
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.training.feeding import cut_rows


@pytest.fixture(scope="module")
def task() -> MaskedWordsAndPairs:
    return tiny_task()


@pytest.fixture
def batch(task):
    return task.prepare(task.epoch(0)[0], step=0, share=0.0)


class Recited(torch.nn.Module):
    """A model that says what it was given, and keeps what it was asked."""

    def __init__(self, words: torch.Tensor, follows: torch.Tensor):
        super().__init__()
        self.prediction_logits, self.seq_relationship_logits = words, follows

    def forward(self, input_ids, attention_mask, token_type_ids, masked_positions):
        self.asked = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        self.masked_positions = masked_positions
        return self


def test_the_losses_by_hand(task):
    """Two pairs, three masked words, a vocabulary of 53: every number can be worked out on paper."""
    labels = torch.full((2, 4), -100)
    labels[0, 1], labels[0, 2], labels[1, 1] = 7, 8, 9
    batch = {
        "input_ids": torch.full((2, 4), 4),
        "attention_mask": torch.ones(2, 4, dtype=torch.long),
        "token_type_ids": torch.zeros(2, 4, dtype=torch.long),
        "labels": labels,
        "next_sentence_label": torch.tensor([0, 1]),
    }
    words = torch.zeros(3, 53)
    words[0, 7] = math.log(52)  # right, with probability 52 / (52 + 52) = 1/2
    words[1, 30] = math.log(53)  # wrong: the right word has probability 1 / (53 + 52)
    follows = torch.tensor([[math.log(3), 0.0], [math.log(3), 0.0]])  # IsNext 3/4: right once, wrong once
    model = Recited(words, follows)
    sums = task.sums(model, batch)
    assert torch.equal(model.masked_positions, labels != -100)
    assert float(sums["mlm_loss"]) == pytest.approx(math.log(2) + math.log(105) + math.log(53))
    assert float(sums["nsp_loss"]) == pytest.approx(math.log(4 / 3) + math.log(4))
    assert (int(sums["mlm_accuracy"]), int(sums["nsp_accuracy"])) == (1, 1)
    assert task.counts(batch) == {"mlm": 3, "nsp": 2}


@pytest.mark.parametrize("label", [0, 1])
def test_nsp_loss_counts_pairs_of_both_labels(task, batch, label):
    """A loss that ignores label 1 (or 0) would have no gradient for those pairs."""
    batch = {**batch, "next_sentence_label": torch.full_like(batch["next_sentence_label"], label)}
    model = tiny_model(dropout=0.0)
    loss = task.sums(model, batch)["nsp_loss"]
    expected = -log_softmax(model.next_sentence.bias, dim=0)[label] * len(batch["labels"])
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=0.1)
    loss.backward()
    gradient = model.next_sentence.bias.grad
    assert gradient[label] < -1 < 1 < gradient[1 - label]


def test_sums_over_counts_are_the_loss_of_the_model(task, batch):
    model = tiny_model(dropout=0.0)
    sums, counts = task.sums(model, batch), task.counts(batch)
    inputs = (batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
    expected = model(*inputs, labels=batch["labels"], next_sentence_label=batch["next_sentence_label"]).loss
    assert torch.allclose(sums["mlm_loss"] / counts["mlm"] + sums["nsp_loss"] / counts["nsp"], expected)
    logits = model(*inputs).prediction_logits  # for every token; cross_entropy leaves out -100 by itself
    full = cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
    assert torch.allclose(sums["mlm_loss"] / counts["mlm"], full)


def test_the_model_is_told_which_segment_each_token_is_in(task, batch):
    model = Recited(torch.zeros(task.counts(batch)["mlm"], 53), torch.zeros(len(batch["labels"]), 2))
    task.sums(model, batch)
    second = model.asked["token_type_ids"]
    assert (second.sum(dim=1) > 1).all(), "every second segment has a token and [SEP]"
    tokenizer = task.tokenizer
    for ids, types, mask in zip(batch["input_ids"], second, model.asked["attention_mask"], strict=True):
        ends = (ids == tokenizer.sep_token_id).nonzero().flatten()[-2:]  # a random word may be [SEP] too, before them
        if (ids == tokenizer.sep_token_id).sum() == 2:
            assert types.nonzero().flatten().tolist() == list(range(int(ends[0]) + 1, int(ends[1]) + 1))
        assert int(mask.sum()) == int(ends[1]) + 1


def test_the_mask_rate_falls_over_the_run():
    task = tiny_task(mask_rates=(0.6, 0.2), batch_size=64)
    raw = task.epoch(0)[0]
    lengths = raw["attention_mask"].sum(dim=1)
    for share, rate in ((0.0, 0.6), (0.5, 0.4), (1.0, 0.2)):
        labelled = (task.prepare(raw, 3, share)["labels"] != -100).sum(dim=1)
        assert labelled.tolist() == [min(int(n) - 3, max(1, round(int(n) * rate))) for n in lengths]


def test_preparing_leaves_the_batch_as_it_was(task):
    raw = task.epoch(0)[0]
    before = raw["input_ids"].clone()
    prepared = task.prepare(raw, 0, 0.0)
    assert torch.equal(raw["input_ids"], before) and "labels" not in raw
    assert not any(name.startswith("mask_") for name in prepared), "the model is given random numbers"
    chosen = prepared["labels"] != -100
    assert torch.equal(torch.where(chosen, prepared["labels"], prepared["input_ids"]), before)


def test_masks_change_with_the_pass_and_the_seed_and_with_nothing_else(task):
    """The same pairs each time, so that masks alone can differ."""

    def labels(task, number: int = 0):
        batches = task.epoch(number)
        batches.batches.batches = tiny_task().epoch(0).batches.batches
        return task.prepare(batches[0], 5, 0.5)["labels"]

    torch.manual_seed(1)
    first = labels(task)
    torch.manual_seed(2)
    assert torch.equal(first, labels(task))
    assert not torch.equal(first, labels(task, number=1))
    assert not torch.equal(first, labels(tiny_task(seed=1)))
    other = task.epoch(0)
    other.batches.batches = [other.batches.batches[0]] * 2
    assert not torch.equal(other[0]["mask_order"], other[1]["mask_order"]), "two batches of a pass are masked alike"


@pytest.mark.parametrize("whole_words", [False, True])
def test_what_becomes_of_a_row_does_not_depend_on_the_rows_beside_it(whole_words):
    """Each process masks its own rows alone."""
    task = tiny_task(whole_words=whole_words, batch_size=16)
    raw = task.epoch(0)[0]
    whole = task.prepare(raw, 3, 0.5)
    parts = [task.prepare(part, 3, 0.5) for part in cut_rows(raw, 5)]
    for name, tensor in whole.items():
        assert torch.equal(tensor, torch.cat([part[name] for part in parts])), name


def test_each_pass_draws_new_pairs_the_same_for_the_same_seed(task):
    def pairs(task, number):
        return task.epoch(number).batches.batches

    assert pairs(task, 0) == pairs(tiny_task(), 0)
    assert sorted(map(str, pairs(task, 0))) != sorted(map(str, pairs(task, 1)))
    assert pairs(task, 0) != pairs(tiny_task(seed=1), 0)


def test_validation_is_masked_at_the_published_rate_and_always_alike():
    task, other = tiny_task(mask_rates=(0.6, 0.6)), tiny_task(mask_rates=(0.6, 0.6), seed=5)
    assert len(task.validation()) > 0
    for batch, again in zip(task.validation(), other.validation(), strict=True):
        assert torch.equal(batch["labels"], again["labels"])
        lengths = batch["attention_mask"].sum(dim=1).tolist()
        assert (batch["labels"] != -100).sum(dim=1).tolist() == [max(1, round(n * 0.15)) for n in lengths]


def test_the_weights_with_the_lowest_sum_of_losses_are_kept_as_the_best(task):
    """The best weights are those with the lowest sum of both losses; of words alone, with the lowest of words."""
    figures = {"mlm_loss": 2.0, "mlm_accuracy": 0.5, "nsp_loss": 0.5, "nsp_accuracy": 0.75}
    assert task.quality(figures) == -2.5
    assert tiny_task(objective="words").quality({"mlm_loss": 2.0, "mlm_accuracy": 0.5}) == -2.0


def test_whole_words_are_masked_when_asked_for():
    task = tiny_task(whole_words=True, batch_size=64, mask_rates=(0.3, 0.3))
    raw = task.epoch(0)[0]
    chosen = task.prepare(raw, 0, 0.0)["labels"] != -100
    ids = raw["input_ids"]
    inside = task.continuation[ids][:, 1:] & (ids[:, :-1] > 4)  # a piece that goes on what stands before it
    assert inside.any()
    assert torch.equal(chosen[:, 1:][inside], chosen[:, :-1][inside])


def test_sentence_order_pairs_when_asked_for():
    labels = torch.cat([batch["next_sentence_label"] for batch in tiny_task(pairs="order").epoch(0)])
    assert 0.3 < labels.float().mean() < 0.7


def test_another_text_is_another_run(task):
    """The identity changes with the words, and with where sentences and documents end."""
    same, documents = task.identity(), random_documents(60)
    assert tiny_task().identity() == same

    def of(documents):
        settings = PretrainingSettings(max_length=24, batch_size=8)
        return MaskedWordsAndPairs(
            make_text(documents), make_text(documents[:5]), tiny_tokenizer(), settings
        ).identity()

    joined = [documents[0] + documents[1], *documents[2:]]
    assert of(documents) == same
    assert of(joined)["text"] != same["text"] != of(documents[::-1])["text"]


def test_billions_of_tokens_are_hashed_once(monkeypatch):
    """And no two texts, nor two ways to cut one into sentences, have the same identity."""
    task = tiny_task()
    hashed = []
    sha256 = hashlib.sha256
    monkeypatch.setattr(hashlib, "sha256", lambda data=b"": hashed.append(len(data)) or sha256(data))
    first = task.identity()
    assert max(hashed) >= task.train_text.tokens.nbytes
    hashed.clear()
    assert task.identity() == first and not hashed
    document = random_documents(1)[0]
    together = [[token for sentence in document for token in sentence]]
    texts = [make_text([document]), make_text([together]), make_text([document, document])]
    names = [
        MaskedWordsAndPairs(text, text, tiny_tokenizer(), PretrainingSettings(max_length=24)).identity()["text"]
        for text in texts
    ]
    assert len(set(names)) == 3


def test_the_weight_of_pairs_is_that_of_the_settings():
    assert tiny_task(pair_weight=0.25).loss_weights == {"nsp_loss": 0.25}
