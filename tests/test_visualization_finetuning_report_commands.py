"""What a fine-tuning run's page gives to copy into Python: it must open this model and ask it what it learned."""

import html
import re
from pathlib import PurePath, PureWindowsPath

import pytest
from support.finetuning_runs import TOKENIZER, explained, save_finetuning_run

from bertedu.config import BertConfig, TaskConfig
from bertedu.finetuning.classification import BertForSequenceClassification
from bertedu.visualization import finetuning_report
from bertedu.visualization.finetuning_report import next_html
from bertedu.visualization.finished_runs import Run


def steps(folder: PurePath, task: str, rows: list[dict]) -> str:
    """How to go on with a run, as it is read on the page."""
    run = Run(folder, {"pooling": "pooler", "crf": False}, {"task": task, "runs": [{}] * 3}, [])
    return html.unescape(next_html(run, rows))


def snippet(page: str) -> str:
    """The program for transformers."""
    found = re.search(r"<code>(from transformers.*?)</code>", page, re.DOTALL)
    assert found
    return found[1]


def test_a_folder_of_windows_is_the_same_one_in_python(monkeypatch):
    monkeypatch.setattr(finetuning_report, "again", lambda *_, **__: "")  # it looks into the folder
    folder = PureWindowsPath(r"C:\new\tagging-train")
    asked = snippet(steps(folder, "tagging", explained("tagging")))
    assert asked.endswith('pipeline("token-classification", model="C:/new/tagging-train/checkpoint")("A text.")')
    assert "--model C:/new/tagging-train<" in steps(folder, "question-answering", [])


@pytest.mark.parametrize(
    ("task", "labels", "problem"),
    [
        ("classification", ("a", "b"), "single_label_classification"),
        ("multi-label", ("a", "b"), "multi_label_classification"),
        ("regression", ("score",), "regression"),
    ],
)
def test_a_model_of_pairs_is_asked_for_two_texts_and_others_for_one(task, labels, problem, tmp_path):
    rows = explained(task)
    pairs = any("pair" in row for row in rows)
    assert pairs == (task != "multi-label")
    folder = save_finetuning_run(tmp_path / "run", task)
    config = BertConfig(50, 16, 2, 2, 32)
    BertForSequenceClassification.from_config(config, TaskConfig(labels, problem)).save_pretrained(
        folder / "checkpoint"
    )
    TOKENIZER.save_pretrained(folder / "checkpoint")
    asked = snippet(steps(folder, task, rows))
    assert asked.endswith('({"text": "A text.", "text_pair": "A second text."})' if pairs else '("A text.")')
    exec(asked)  # transformers takes it
