"""Folders of `transformers` 4, made by tests/support/folders_of_version_4.py: opened here, they say the same."""

import json
import warnings
import zipfile
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from bertedu.config import TaskConfig
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.model.architecture import architecture_in, tokenizer_in
from bertedu.registry import ARCHITECTURES
from bertedu.tokenization import BertTokenizer

FOLDERS = Path(__file__).parent / "data" / "transformers-4.zip"
HEADS = (TextClassifier, Tagger, SpanFinder)


@pytest.fixture(params=[*ARCHITECTURES])
def folder(request, tmp_path):
    """The folder of a member."""
    with zipfile.ZipFile(FOLDERS) as archive:
        archive.extractall(tmp_path, [name for name in archive.namelist() if name.startswith(f"{request.param}/")])
    return tmp_path / request.param


def open_quietly(folder):
    """The tokenizer and the model of the class that config.json names."""
    name = json.loads((folder / "config.json").read_text(encoding="utf-8"))["architectures"][0]
    head = next(head for head in HEADS if architecture_in(folder).class_name(head.kind) == name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return tokenizer_in(folder), head.from_pretrained(folder)


def test_a_folder_of_version_4_gives_the_same_ids_and_logits(folder):
    tokenizer, model = open_quietly(folder)
    for row in json.loads((folder / "said.json").read_text(encoding="utf-8")):
        encoding = tokenizer(row["text"])
        assert encoding.input_ids.tolist() == row["ids"]
        with torch.no_grad():
            said = model(**encoding)
        logits = torch.stack([said.start_logits, said.end_logits]) if isinstance(model, SpanFinder) else said.logits
        assert_close(logits, torch.tensor(row["logits"]), atol=1e-4, rtol=1e-4)


def test_added_tokens_of_version_4_are_read_and_kept(folder, tmp_path):
    tokenizer, _ = open_quietly(folder)
    if not isinstance(tokenizer, BertTokenizer):
        return
    tokenizer.save_pretrained(tmp_path / "again")
    again = BertTokenizer.from_pretrained(tmp_path / "again")
    assert again.tokens == tokenizer.tokens and again.added_tokens == tokenizer.added_tokens
    assert tokenizer.tokenize("Foo-bar [A][B]") == ["Foo-bar", "[A]", "[B]"]


def test_one_class_of_version_4_is_a_score(folder):
    task = TaskConfig.load(folder)
    _, model = open_quietly(folder)
    assert (task.problem_type == "regression") == (isinstance(model, TextClassifier) and len(task.labels) == 1)
