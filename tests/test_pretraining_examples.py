"""From documents to batches: special tokens, segment ids and padding where they belong, every pair once."""

import random

import numpy as np
import pytest
import torch
from support.tiny_run import make_text, random_documents, tiny_task, tiny_tokenizer

from bertedu.corpora.documents import Document
from bertedu.pretraining.examples import Batches, collate, tokenize_documents
from bertedu.pretraining.sentence_pairs import Pair, PairMaker

TOKENIZER = tiny_tokenizer()


def test_a_batch_by_hand():
    text = make_text([[[10, 11, 12], [13, 14]]])
    pairs = [Pair((0, 3), (3, 5), 0), Pair((3, 5), (0, 1), 1)]
    batch = collate(text, pairs, TOKENIZER)
    cls, sep, pad = TOKENIZER.cls_token_id, TOKENIZER.sep_token_id, TOKENIZER.pad_token_id
    assert batch["input_ids"].tolist() == [[cls, 10, 11, 12, sep, 13, 14, sep], [cls, 13, 14, sep, 10, sep, pad, pad]]
    assert batch["token_type_ids"].tolist() == [[0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1] * 8, [1] * 6 + [0] * 2]
    assert batch["next_sentence_label"].tolist() == [0, 1]
    assert all(tensor.dtype == torch.long for tensor in batch.values())


def test_a_batch_is_what_the_tokenizer_makes_of_two_texts():
    first, second = "t0w1 t0w2 t0w3##t0w6", "t1w0 t1w5"
    encoding = TOKENIZER(first, second)
    ids = [TOKENIZER.encode(first), TOKENIZER.encode(second)]
    pair = Pair((0, len(ids[0])), (len(ids[0]), len(ids[0]) + len(ids[1])), 0)
    batch = collate(make_text([ids]), [pair], TOKENIZER)
    for name in ("input_ids", "token_type_ids", "attention_mask"):
        assert torch.equal(batch[name], getattr(encoding, name)), name


def test_documents_become_ids_and_empty_ones_are_left_out():
    documents = [
        Document(("t0w0 t0w1", "", "t0w2"), "a"),
        Document((), "b"),
        Document(("  ",), "c"),
        Document(("t1w0",), "d"),
    ]
    text = tokenize_documents(documents, TOKENIZER)
    w = TOKENIZER.vocab
    assert text.tokens.tolist() == [w["t0w0"], w["t0w1"], w["t0w2"], w["t1w0"]]
    assert (text.sentences, text.documents, text.sources) == ([0, 2, 3, 4], [0, 2, 3], ["a", "d"])
    nothing = tokenize_documents([], TOKENIZER)
    assert (len(nothing.tokens), nothing.documents) == (0, [0])


@pytest.fixture(scope="module")
def text():
    return make_text(random_documents(400))


@pytest.fixture(scope="module")
def pairs(text):
    return PairMaker(text, 32).next_sentence_pairs(random.Random(0))


def test_every_pair_comes_once_and_batches_are_full(text, pairs):
    batches = Batches(text, pairs, 4, TOKENIZER, random.Random(1))
    made = [pair for batch in batches.batches for pair in batch]
    assert sorted(map(id, made)) == sorted(map(id, pairs))
    sizes = [len(batch) for batch in batches.batches]
    assert sorted(sizes)[1:] == [4] * (len(sizes) - 1)
    assert len(batches) == len(sizes) and len(batches[0]["input_ids"]) == sizes[0]


def test_pairs_of_one_length_share_a_batch(text, pairs):
    def fill(batches) -> float:
        masks = [batch["attention_mask"] for batch in batches]
        return sum(int(mask.sum()) for mask in masks) / sum(mask.numel() for mask in masks)

    unsorted = [collate(text, pairs[i : i + 4], TOKENIZER) for i in range(0, len(pairs), 4)]
    assert fill(Batches(text, pairs, 4, TOKENIZER, random.Random(1))) > max(0.97, fill(unsorted) + 0.05)


def test_batches_do_not_come_sorted_by_length(text, pairs):
    """Short ones first would be a curriculum that nobody asked for."""
    lengths = [len(batch[0]) for batch in Batches(text, pairs, 4, TOKENIZER, random.Random(1)).batches]
    assert abs(np.corrcoef(lengths, np.arange(len(lengths)))[0, 1]) < 0.2


def test_batches_are_a_function_of_the_seed(text, pairs):
    first, second, other = (Batches(text, pairs, 4, TOKENIZER, random.Random(seed)) for seed in (1, 1, 2))
    assert first.batches == second.batches != other.batches


@pytest.mark.parametrize("objective", ["pairs", "words"])
def test_the_tokens_of_a_batch_are_counted_with_its_special_tokens(objective):
    """A run of so many tokens would end late, and its learning rate fall too slowly."""
    batches = tiny_task(objective=objective).epoch(0)
    for number in range(len(batches)):
        assert sorted(batches.lengths(number)) == sorted(batches[number]["attention_mask"].sum(dim=1).tolist())
