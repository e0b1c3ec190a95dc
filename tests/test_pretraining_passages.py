"""Passages of one text: all of it, nothing twice, no document's end in another's beginning."""

import pytest
import torch
from support.tiny_run import make_text, random_documents, tiny_task, tiny_tokenizer

from bertedu.pretraining.examples import collate
from bertedu.pretraining.passages import Passage, PassageMaker

TOKENIZER = tiny_tokenizer()


@pytest.mark.parametrize("max_length", [8, 24, 512])
def test_every_token_is_read_once_and_no_passage_is_too_long(max_length):
    text = make_text(random_documents(60))
    made = PassageMaker(text, max_length).passages()
    assert [token for passage in made for token in range(*passage.first)] == list(range(len(text.tokens)))
    assert all(0 < len(passage) <= max_length - 2 for passage in made)
    edges = {text.sentences[sentence] for sentence in text.documents}
    for passage in made:
        assert not any(passage.first[0] < edge < passage.first[1] for edge in edges), "it runs into another document"


def test_a_sentence_that_fits_is_not_cut():
    """Three sentences of 4, 3 and 12 tokens, 10 at most: the first two together, the third in two pieces."""
    text = make_text([[[10] * 4, [11] * 3, [12] * 12]])
    assert [passage.first for passage in PassageMaker(text, 12).passages()] == [(0, 7), (7, 17), (17, 19)]


def test_a_passage_is_laid_out_as_a_single_text():
    batch = collate(make_text([[[10, 11, 12], [13]]]), [Passage((0, 3)), Passage((3, 4))], TOKENIZER)
    cls, sep, pad = TOKENIZER.cls_token_id, TOKENIZER.sep_token_id, TOKENIZER.pad_token_id
    assert batch["input_ids"].tolist() == [[cls, 10, 11, 12, sep], [cls, 13, sep, pad, pad]]
    assert batch["attention_mask"].tolist() == [[1] * 5, [1] * 3 + [0] * 2]
    assert not batch["token_type_ids"].any() and "next_sentence_label" not in batch


@pytest.mark.parametrize(("length", "masked"), [(9, 1), (16, 2), (23, 3), (24, 4)])
def test_one_separator_is_counted_in_a_single_text(length, masked):
    """9 tokens with [CLS] and [SEP] make 1.35 at 15 %; with a second [SEP], of which there is none, 1.5, so 2."""
    ids = torch.full((1, length), 10)
    ids[0, 0], ids[0, -1] = TOKENIZER.cls_token_id, TOKENIZER.sep_token_id
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    labels = tiny_task(objective="words").mask(batch, 0.15, seed=0)["labels"]
    assert int((labels != -100).sum()) == masked
