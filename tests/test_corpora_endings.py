"""Names of files that end in capitals, as some systems write them: read as if the ending were in small letters."""

import gzip
import json

import pytest

from bertedu.corpora.readers import read_documents
from bertedu.corpora.readers.labelled import Choices, LabelledText, Question, Summary, TaggedWords
from bertedu.corpora.splits import split_sources
from bertedu.corpora.task_data import read_choices, read_labelled, read_questions, read_summaries, read_tagged

QUESTION = {"id": "1", "question": "Who?", "context": "A cat.", "answers": []}
CHOICE = {"question": "Who?", "choices": ["cat", "dog"], "label": 1}


@pytest.mark.parametrize("zipped", ["", ".gz", ".GZ"])
@pytest.mark.parametrize(
    ("name", "content", "read", "expected"),
    [
        ("A.CSV", "text,label\none,a\n", read_labelled, LabelledText("one", "a")),
        ("a.Tsv", "text\tlabel\none, two\ta\n", read_labelled, LabelledText("one, two", "a")),
        ("A.JSONL", json.dumps({"text": "one", "label": "a"}), read_labelled, LabelledText("one", "a")),
        ("A.JSONL", json.dumps({"words": ["A"], "tags": ["B-x"]}), read_tagged, TaggedWords(("A",), ("B-x",))),
        ("A.CONLLU", "1\tA\ta\tDET" + "\t_" * 6, read_tagged, TaggedWords(("A",), ("DET",))),
        ("A.CONLL", "A\tB-x", read_tagged, TaggedWords(("A",), ("B-x",))),
        ("A.JSONL", json.dumps(QUESTION), read_questions, Question("1", "Who?", "A cat.", (), True)),
        ("A.JSONL", json.dumps(CHOICE), read_choices, Choices("Who?", ("cat", "dog"), 1)),
        ("A.CSV", "text,summary\nLong.,Short.\n", read_summaries, Summary("Long.", "Short.")),
    ],
)
def test_an_ending_in_capitals_is_read_as_in_small_letters(tmp_path, name, content, read, expected, zipped):
    (tmp_path / (name + zipped)).write_bytes(gzip.compress(content.encode()) if zipped else content.encode())
    assert read(tmp_path / (name + zipped)) == [expected]


def test_files_by_label_in_capitals_keep_their_labels(tmp_path):
    for name in ("a.NEG.TXT", "b.pos.Txt"):
        (tmp_path / name).write_text("One.\n", encoding="utf-8")
    read = read_labelled([tmp_path / "a.NEG.TXT", tmp_path / "b.pos.Txt"])
    assert read == [LabelledText("One.", "NEG"), LabelledText("One.", "pos")]


def test_a_folder_of_texts_in_capitals_is_read(tmp_path):
    (tmp_path / "BOOK.TXT").write_text("It is so. It ends.", encoding="utf-8")
    (tmp_path / "a.Txt.Gz").write_bytes(gzip.compress(b"A book. Its end."))
    assert [document.source for document in read_documents(tmp_path)] == ["BOOK.TXT", "a.Txt.Gz"]


def test_a_split_in_capitals_is_a_split(tmp_path):
    (tmp_path / "TRAIN.CSV").write_text("text,label\none,a\n", encoding="utf-8")
    (tmp_path / "Test").mkdir()
    assert split_sources(tmp_path) == {"train": tmp_path / "TRAIN.CSV", "test": tmp_path / "Test"}
