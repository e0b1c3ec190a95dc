"""Tags for words: the same numbers as `transformers`, labels at the right pieces, sentences that lose no word."""

import re
from itertools import pairwise

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForTokenClassification

from bertedu.config import BertConfig, TaskConfig
from bertedu.corpora.readers import TaggedWords
from bertedu.errors import UserError
from bertedu.finetuning.crf import may_follow
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.spans import are_entities
from bertedu.finetuning.tagging import (
    BertCrfForTokenClassification,
    BertForTokenClassification,
    TaggingTask,
    pack_words,
    tags_of,
)
from bertedu.finetuning.tagging_baselines import most_frequent_tags, tagging_baselines
from bertedu.model.heads import IGNORED
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings

TAGS = ("O", "B-x", "I-x")
VOCAB = [*SPECIAL_TOKENS, *"abcdefgh", *(f"##{letter}" for letter in "abcdefgh")]
TOKENIZER = BertTokenizer(VOCAB)


def made_model(model_class=BertForTokenClassification, hidden_size: int = 16):
    torch.manual_seed(0)
    model = model_class.from_config(BertConfig(len(VOCAB), hidden_size, 2, 2, 32), TaskConfig(TAGS)).eval()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def made_task(rows, label_pieces: str = "first", **settings) -> TaggingTask:
    return TaggingTask(rows, rows, TOKENIZER, FinetuningSettings(**settings), TAGS, label_pieces)


def test_transformers_says_the_same(tmp_path):
    model = made_model()
    model.save_pretrained(tmp_path)
    reference = AutoModelForTokenClassification.from_pretrained(tmp_path).eval()
    ids, labels = torch.randint(5, len(VOCAB), (2, 7)), torch.randint(0, 3, (2, 7))
    mask = torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
    labels[1, 4:] = labels[:, 0] = IGNORED
    ours, theirs = model(ids, mask, labels=labels), reference(ids, mask, labels=labels)
    assert torch.allclose(ours.logits, theirs.logits, atol=1e-5)
    assert ours.loss.item() == pytest.approx(theirs.loss.item(), abs=1e-5)
    assert tuple(reference.config.id2label.values()) == TAGS


def test_the_crf_is_kept_on_disk(tmp_path):
    model = made_model(BertCrfForTokenClassification)
    model.save_pretrained(tmp_path)
    again = BertCrfForTokenClassification.from_pretrained(tmp_path)
    assert torch.equal(again.crf.transitions, model.crf.transitions)
    assert not any("rules" in name for name in load_file(tmp_path / "model.safetensors"))


def test_labels_stand_at_the_first_piece():
    row = TaggedWords(("ab", "c", "def"), ("B-x", "I-x", "O"))
    example = made_task([row]).examples[0]
    assert TOKENIZER.convert_ids_to_tokens(example["input_ids"]) == [
        "[CLS]",
        "a",
        "##b",
        "c",
        "d",
        "##e",
        "##f",
        "[SEP]",
    ]
    assert example["labels"] == [IGNORED, 1, IGNORED, 2, 0, IGNORED, IGNORED, IGNORED]
    assert example["first_pieces"] == [0, 1, 0, 1, 1, 0, 0, 0]
    every = made_task([row], "all").examples[0]
    assert every["labels"] == [IGNORED, 1, 2, 2, 0, 0, 0, IGNORED]


def test_a_word_without_a_piece_or_beyond_the_end_does_not_shift_the_others():
    rows = [TaggedWords(("a", "\u0000", "b"), ("O", "O", "B-x")), TaggedWords(("abcdefgh", "a"), ("O", "B-x"))]
    task = made_task(rows, max_length=8)
    assert [sum(example["first_pieces"]) for example in task.examples] == [3, 1]
    assert task.examples[0]["input_ids"][2] == TOKENIZER.unk_token_id
    for model in (made_model(), made_model(BertCrfForTokenClassification)):
        predicted = task.predict(model, rows)
        assert [len(tags) for tags in predicted] == [3, 2]
        assert predicted[1][1] == "O"
    with pytest.raises(UserError, match="'B-y' of the word 'a'"):
        made_task([TaggedWords(("a",), ("B-y",))])


def test_packed_words_come_from_their_first_pieces():
    logits = torch.arange(12.0).reshape(1, 6, 2).repeat(2, 1, 1)
    first = torch.tensor([[0, 1, 0, 1, 1, 0], [0, 0, 1, 0, 0, 0]]).bool()
    labels = torch.arange(6).repeat(2, 1)
    packed, packed_labels, words = pack_words(logits, labels, first)
    assert packed_labels[0].tolist() == [1, 3, 4] and packed[0, :, 0].tolist() == [2.0, 6.0, 8.0]
    assert words.tolist() == [[True] * 3, [True, False, False]] and packed_labels[1, 0] == 2


def test_the_crf_loss_is_a_mean_over_words():
    """With no transitions learned and none forbidden, a CRF is the product of what each word says."""
    torch.manual_seed(0)
    config, task_config = BertConfig(len(VOCAB), 16, 1, 2, 32), TaskConfig(("NOUN", "VERB"))
    model = BertCrfForTokenClassification.from_config(config, task_config).eval()
    without = BertForTokenClassification(model.encoder, task_config).eval()
    without.classifier = model.classifier
    ids, labels = torch.randint(5, len(VOCAB), (3, 6)), torch.randint(0, 2, (3, 6))
    labels[0, 3:] = IGNORED
    assert model(ids, labels=labels).loss.item() == pytest.approx(without(ids, labels=labels).loss.item(), abs=1e-5)


def test_a_tag_that_depends_on_the_tag_before_is_learned(tmp_path):
    """ "a" begins an entity, and "b" goes on with it when it stands right behind "a", and else is outside."""
    generator = torch.Generator().manual_seed(0)
    rows = []
    for _ in range(200):
        words = ["aabbbcde"[int(i)] for i in torch.randint(0, 8, (8,), generator=generator)]
        tags = ["B-x" if word == "a" else "I-x" if "".join(words[max(0, i - 1) : i + 1]) == "ab" else "O"
                for i, word in enumerate(words)]  # fmt: skip
        rows.append(TaggedWords(tuple(words), tuple(tags)))
    task = made_task(rows, dropout=0.0, batch_size=8)
    torch.manual_seed(0)
    config = BertConfig(len(VOCAB), 32, 1, 2, 64, hidden_dropout_prob=0.0)
    model = BertCrfForTokenClassification.from_config(config, TaskConfig(TAGS))
    settings = TrainingSettings(learning_rate=1e-2, device="cpu", precision="fp32", validations=2)
    Trainer(model, task, settings, Budget(steps=75), tmp_path).run()
    best = BertCrfForTokenClassification.from_pretrained(tmp_path / "checkpoint-best")
    without = most_frequent_tags(rows, rows)["most frequent tag of the word"]
    assert task.score(best, rows)["f1"] > 0.95 > 0.8 > without["f1"]


def test_tags_are_numbered_in_the_same_order_each_time():
    rows = [TaggedWords(("a", "b", "c"), ("I-y", "B-x", "O")), TaggedWords(("a", "b"), ("B-y", "I-x"))]
    assert tags_of(rows) == ("O", "B-x", "I-x", "B-y", "I-y")


def test_a_crf_with_tags_of_pieces_is_refused():
    with pytest.raises(UserError, match='one tag for each word: choose label_pieces="first"'):
        made_task([TaggedWords(("a",), ("O",))], "all", crf=True)


@pytest.mark.parametrize(
    ("tags", "told"),
    [
        (("O", "I-x", "I-x"), "'I-x' of 'b' stands after the tag 'O' of 'a', and the rules of BIO "),  # IO and IOB1
        (("I-x", "O", "B-x"), "'I-x' of 'a' stands after the beginning"),
        (("B-x", "I-y", "O"), "'I-y' of 'b' stands after the tag 'B-x' of 'a'"),
        (("S-x", "O", "B-x"), "the end stands after the tag 'B-x' of 'c', and the rules of BIOES "),
    ],
)
@pytest.mark.parametrize("part", ["train", "validation"])
def test_tags_that_its_rules_forbid_are_refused_by_a_crf(tags, told, part):
    good, bad = TaggedWords(("d", "e"), ("O", "O")), TaggedWords(("a", "b", "c"), tags)
    rows = ([good, bad], [good]) if part == "train" else ([good], [good, bad])
    labels = tags_of([good, bad])
    with pytest.raises(UserError, match=re.escape(told)) as caught:
        TaggingTask(*rows, TOKENIZER, FinetuningSettings(crf=True), labels)
    assert "the sentence 'a b c'" in str(caught.value) and "leave --crf out" in str(caught.value)
    TaggingTask(*rows, TOKENIZER, FinetuningSettings(), labels)  # each word for itself: nothing is forbidden


@pytest.mark.parametrize("labels", [TAGS, ("O", "B-x", "I-x", "E-x", "S-x"), ("DET", "I-NTJ")])
def test_tags_that_follow_its_rules_are_learned_by_a_crf(labels):
    row = {3: ("O", "B-x", "I-x"), 5: ("B-x", "I-x", "E-x"), 2: ("DET", "DET", "DET")}[len(labels)]
    rows = [TaggedWords(("a", "b", "c"), row)]
    assert TaggingTask(rows, rows, TOKENIZER, FinetuningSettings(crf=True), labels).examples


@pytest.mark.parametrize("max_length", [8, 9, 10])
def test_a_long_entity_that_max_length_cuts_is_possible(max_length):
    """Of BIOES: what is left of it ends with B- or I-; 10 tokens hold the whole sentence."""
    labels = ("O", "B-x", "I-x", "E-x", "S-x")
    rows = [TaggedWords(tuple("aaaaabcd"), ("O",) * 5 + ("B-x", "I-x", "E-x"))]
    model = BertCrfForTokenClassification.from_config(BertConfig(len(VOCAB), 16, 2, 2, 32), TaskConfig(labels)).eval()
    task = TaggingTask(rows, rows, TOKENIZER, FinetuningSettings(max_length=max_length, crf=True), labels)
    assert task.validation_losses(model, torch.device("cpu"))["word_loss"] < 5
    assert len(task.predict(model, rows)[0]) == 8


@pytest.mark.parametrize("tags", [("-LRB-", "NN", "DT"), ("NN-TL", "NN", "O"), ("B-NP", "NN", "O"), ("B-", "I-", "O")])
def test_parts_of_speech_with_a_hyphen_are_not_scored_as_entities(tags):
    rows = [TaggedWords(("a", "b", "c"), tags)] * 2
    task = TaggingTask(rows, rows, TOKENIZER, FinetuningSettings(), tags_of(rows))
    assert task.best_by == "accuracy" and not are_entities(tags)
    for figures in tagging_baselines(rows, rows).values():
        assert figures.keys() == {"accuracy", "macro_f1"} and figures["accuracy"] == 1.0


def test_tags_of_entities_are_told_from_others():
    assert are_entities(["O", "B-x", "I-x"]) and are_entities(["S-x-y", "E-x"])
    assert not are_entities(["O", "O"]) and not are_entities([]) and not are_entities(["O", "B-x", "-RRB-"])


class Wrapped(torch.nn.Module):
    """A model as several processes or torch.compile see it: its forward, and nothing else of it."""

    def __init__(self, model):
        super().__init__()
        self.module = model

    def forward(self, *inputs, **named):
        return self.module(*inputs, **named)


def test_a_crf_is_kept_when_the_model_is_wrapped():
    """It forbids I-x behind O: each word for itself, the model would say it."""
    model = made_model(BertCrfForTokenClassification)
    rows = [TaggedWords(tuple("abcdeabc"), ("O",) * 8), TaggedWords(tuple("edcba"), ("O",) * 5)]
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor([float(label.startswith("I")) for label in TAGS]) * 20)
    task = made_task(rows, crf=True)
    alone, wrapped = task.predictions(model, rows), task.predictions(Wrapped(model), rows)
    assert alone == wrapped
    assert all(may_follow(a, b) for tagged in wrapped for a, b in pairwise(("O", *tagged.tags)))
    without = task.predict(without_crf(model), rows)
    assert not all(may_follow(a, b) for tags in without for a, b in pairwise(("O", *tags)))


def without_crf(model):
    plain = BertForTokenClassification(model.encoder, model.task_config).eval()
    plain.classifier = model.classifier
    return plain


@pytest.mark.parametrize("model_class", [BertForTokenClassification, BertCrfForTokenClassification])
@pytest.mark.parametrize("rows", [0, 2])
def test_a_part_of_a_batch_without_a_label_has_a_loss_of_0(model_class, rows):
    """Batches are cut into parts; sums of parts are added up, and nothing adds nothing."""
    model = made_model(model_class)
    task = made_task([TaggedWords(("a", "b"), ("O", "O"))])
    batch = {name: tensor[:0] for name, tensor in task.epoch(0)[0].items()}
    if rows:
        batch = {name: tensor.repeat(rows, 1) for name, tensor in task.epoch(0)[0].items()}
        batch["labels"] = torch.full_like(batch["labels"], IGNORED)
    loss = task.sums(model, batch)["word_loss"]
    loss.backward()
    assert loss == 0 and all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
