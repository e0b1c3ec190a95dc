"""Where the rows of a fine-tuning run come from, and what keeps validation and test apart from training."""

import json
from dataclasses import dataclass

import pytest

from bertedu.corpora.readers import Choices, LabelledText, Question
from bertedu.errors import UserError
from bertedu.finetuning.data import read_data, taken_away
from bertedu.registry import TASKS


@dataclass
class Plan:
    """The sources of a plan."""

    data: str
    validation: str | None = None
    test: str | None = None


def silent(sentence: str) -> None:
    """Say nothing."""


def test_validation_asks_about_no_text_that_was_learned():
    rows = [Question(str(number), "why?", f"text {number // 4}", ()) for number in range(80)]
    train, validation = taken_away(rows, TASKS["question-answering"], "a.json")
    assert len(train) == 72 and sorted(train + validation, key=lambda row: int(row.id)) == rows
    assert not {row.context for row in train} & {row.context for row in validation}
    assert taken_away(rows, TASKS["question-answering"], "a.json") == (train, validation)
    train, validation = taken_away(rows[:4], TASKS["question-answering"], "a.json")
    assert len(train) == 3 and len(validation) == 1, "one text has to be shared"


def test_validation_chooses_endings_of_no_text_that_was_learned():
    rows = [Choices(f"why {number}?", ("a", "b"), 0, f"text {number // 4}") for number in range(80)]
    train, validation = taken_away(rows, TASKS["multiple-choice"], "a.jsonl")
    assert len(train) == 72 and not {row.context for row in train} & {row.context for row in validation}
    alone = [Choices(f"why {number // 4}?", ("a", "b"), 0) for number in range(80)]
    train, validation = taken_away(alone, TASKS["multiple-choice"], "a.jsonl")
    assert len(train) == 72 and not {row.question for row in train} & {row.question for row in validation}


@pytest.mark.parametrize("sizes", [(5, 95), (95, 5), (10, 10, 80), (80, 10, 10), (10, 10, 20, 60), (50, 50), (1, 1)])
def test_a_long_text_leaves_most_questions_to_training(sizes):
    rows = [Question(f"{text} {n}", "?", f"text {text}", ()) for text, size in enumerate(sizes) for n in range(size)]
    train, validation = taken_away(rows, TASKS["question-answering"], "a.json")
    assert len(train) + len(validation) == len(rows) and len(train) >= len(validation) >= 1
    assert not {row.context for row in train} & {row.context for row in validation}


def test_a_single_row_is_refused():
    with pytest.raises(UserError, match=r"a.csv holds 1 row.*--validation"):
        taken_away([LabelledText("a", "b")], TASKS["classification"], "a.csv")


def test_a_test_set_of_the_hub_is_its_test_split(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "rows"
    folder.mkdir()
    for split in ("train", "validation", "test"):
        lines = [json.dumps({"text": f"{split} {n}", "label": "ab"[n % 2]}) for n in range(4)]
        (folder / f"{split}.jsonl").write_text("\n".join(lines))
    source = f"hub:{folder}"
    found = read_data(Plan(source, source, source), TASKS["classification"], silent)
    assert [rows[0].text for rows in found] == ["train 0", "validation 0", "test 0"]


def test_what_a_person_names_goes_before_the_folder(tmp_path):
    for name in ("train", "validation", "test", "other"):
        (tmp_path / f"{name}.csv").write_text(f"text,label\n{name},a\n{name},b\n")
    plan = Plan(str(tmp_path), test=str(tmp_path / "other.csv"))
    found = read_data(plan, TASKS["classification"], silent)
    assert [rows[0].text for rows in found] == ["train", "validation", "other"]


def test_rows_of_the_test_that_were_learned_are_told(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(20)))
    (tmp_path / "test.csv").write_text("text,label\ntext 0,a\ntext 1,b\nnew,a\n")
    said: list[str] = []
    read_data(Plan(str(tmp_path), validation=str(tmp_path / "test.csv")), TASKS["classification"], said.append)
    assert any("2 of 3 rows of the test stand among the training rows too" in sentence for sentence in said)
