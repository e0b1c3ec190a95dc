"""Labelled data through `datasets`, from folders in the hub's formats: names of labels, lists, answers, splits."""

import json
from pathlib import Path
from typing import Any

import datasets
import pytest
from datasets import ClassLabel, Features, List, Value

from bertedu.corpora.readers.labelled import Answer, Choices, LabelledText, Question, Summary, TaggedWords
from bertedu.corpora.task_data import read_choices, read_labelled, read_questions, read_summaries, read_tagged
from bertedu.errors import UserError

SENTIMENTS = ClassLabel(names=["negative", "positive"])


@pytest.fixture(autouse=True)
def quiet_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hub-cache")
    datasets.disable_progress_bars()


def hub(folder: Path, rows: list[dict], features: dict[str, Any] | None = None, split: str = "train") -> str:
    """A folder with one split in the hub's format, named as a set of the hub."""
    folder.mkdir(exist_ok=True)
    columns = {name: [row[name] for row in rows] for name in features or rows[0]}
    made = datasets.Dataset.from_dict(columns, features=Features(features) if features else None)
    made.to_parquet(folder / f"{split}.parquet")
    return f"hub:{folder}"


def test_the_number_of_a_label_is_read_as_its_name(tmp_path):
    features = {"sentence": Value("string"), "label": SENTIMENTS, "idx": Value("int32")}
    rows = [{"sentence": "Good.", "label": 1, "idx": 0}, {"sentence": "Bad.", "label": 0, "idx": 1}]
    name = hub(tmp_path / "set", rows, features)
    expected = [LabelledText("Good.", "positive"), LabelledText("Bad.", "negative")]
    assert read_labelled(name) == expected
    assert read_labelled(name, labels=["negative", "positive"]) == expected
    with pytest.raises(UserError, match=r"split train, row 1: the label 'negative' is none of the 1 label"):
        read_labelled(name, labels=["positive"])


def test_rows_without_a_label_are_refused(tmp_path):
    features = {"premise": Value("string"), "hypothesis": Value("string"), "label": SENTIMENTS}
    rows = [{"premise": "A.", "hypothesis": "B.", "label": label} for label in (1, -1)]
    with pytest.raises(UserError, match=r"split train, row 1: the label -1 stands for none of the 2 labels"):
        read_labelled(hub(tmp_path / "set", rows, features))
    rows[1]["label"] = None
    with pytest.raises(UserError, match=r"row 1: the label None stands for none"):
        read_labelled(hub(tmp_path / "other", rows, features))


def test_the_split_and_the_type_of_label_asked_for_are_read(tmp_path):
    many = {"text": Value("string"), "labels": List(ClassLabel(names=["joy", "fear", "calm"]))}
    hub(tmp_path / "many", [{"text": "Oh!", "labels": [2, 0]}, {"text": "So.", "labels": []}], many)
    name = hub(tmp_path / "many", [{"text": "Ah!", "labels": [1]}], many, split="test")
    read = {
        split: read_labelled(name, problem_type="multi_label_classification", split=split)
        for split in ("train", "test")
    }
    assert [example.label for example in read["train"]] == [("calm", "joy"), ()]
    assert [example.label for example in read["test"]] == [("fear",)]
    pairs = [{"sentence1": "A.", "sentence2": "B.", "score": 2.5}]
    assert read_labelled(hub(tmp_path / "pairs", pairs), problem_type="regression") == [LabelledText("A.", 2.5, "B.")]
    with pytest.raises(UserError, match=r"cannot be loaded .*validation"):
        read_labelled(name, split="validation")


def test_tags_become_names(tmp_path):
    tags = List(ClassLabel(names=["O", "B-person", "I-person"]))
    features = {"tokens": List(Value("string")), "ner_tags": tags, "pos_tags": List(ClassLabel(names=["NOUN", "VERB"]))}
    name = hub(
        tmp_path / "set", [{"tokens": ["Ann", "Lee", "sings"], "ner_tags": [1, 2, 0], "pos_tags": [0, 0, 1]}], features
    )
    assert read_tagged(name) == [TaggedWords(("Ann", "Lee", "sings"), ("B-person", "I-person", "O"))]
    assert read_tagged(name, tags="pos_tags", scheme=None)[0].tags == ("NOUN", "NOUN", "VERB")
    with pytest.raises(UserError, match=r"row 0: the tag 'NOUN' is not of the scheme BIO"):
        read_tagged(name, tags="pos_tags")
    with pytest.raises(UserError, match="there is no column 'chunk_tags'"):
        read_tagged(name, tags="chunk_tags")


def test_a_question_without_an_answer_has_none(tmp_path):
    answers = {"text": List(Value("string")), "answer_start": List(Value("int32"))}
    features = {name: Value("string") for name in ("id", "title", "context", "question")} | {"answers": answers}
    row = {"id": "1", "title": "Cats", "context": "A cat sings.", "question": "Who sings?"}
    rows = [
        row | {"answers": {"text": ["cat", "A cat"], "answer_start": [2, 0]}},
        row | {"id": "2", "answers": {"text": [], "answer_start": []}},
    ]
    asked = ("Who sings?", "A cat sings.")
    assert read_questions(hub(tmp_path / "set", rows, features)) == [
        Question("1", *asked, (Answer("cat", 2), Answer("A cat", 0)), False, "Cats"),
        Question("2", *asked, (), True, "Cats"),
    ]
    rows[1]["answers"] = {"text": ["cat"], "answer_start": [3]}
    with pytest.raises(UserError, match=r"row 1 \(id '2'\), answers\[0\]: .* there is 'at ': write 2"):
        read_questions(hub(tmp_path / "elsewhere", rows, features))
    rows[1] = rows[0]
    with pytest.raises(UserError, match=r"row 1: the question id '1' is the one of .*row 0"):
        read_questions(hub(tmp_path / "twice", rows, features))


def test_choices_and_summaries_of_the_hub_are_read(tmp_path):
    features = {name: Value("string") for name in ("startphrase", "ending0", "ending1")}
    rows = [{"startphrase": "She", "ending0": "sings.", "ending1": "flies.", "label": 0}]
    features |= {"label": ClassLabel(names=["0", "1"])}
    assert read_choices(hub(tmp_path / "swag", rows, features)) == [Choices("She", ("sings.", "flies."), 0)]
    listed = [{"question": "Who?", "choices": {"label": ["A", "B"], "text": ["I", "you"]}, "answerKey": "B"}]
    assert read_choices(hub(tmp_path / "listed", listed)) == [Choices("Who?", ("I", "you"), 1)]
    news = [{"article": "It rains. It pours.", "highlights": "Rain."}]
    assert read_summaries(hub(tmp_path / "news", news)) == [Summary("It rains. It pours.", "Rain.")]


def test_a_damaged_folder_and_an_empty_split_are_refused_in_words(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_text(json.dumps({"text": "a"}) + '\n{"text": "b', encoding="utf-8")
    with pytest.raises(UserError, match=r"cannot be loaded \(JSON parse error: Missing a closing quotation mark"):
        read_labelled(f"hub:{tmp_path / 'set'}")
    with pytest.raises(UserError, match=r"split train, .*no data"):
        read_labelled(hub(tmp_path / "none", [], {"text": Value("string"), "label": SENTIMENTS}))
    with pytest.raises(UserError, match="cannot be loaded"):
        read_labelled(f"hub:{tmp_path / 'missing'}")
