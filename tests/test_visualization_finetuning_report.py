"""What is told of a fine-tuning run: figures, errors to read, and the page made from the folder alone."""

import html
import json
import re
import shlex

import pytest
from support.finetuning_runs import SETTINGS, TOKENIZER, explained, save_finetuning_run
from support.pages import Page, fetches

from bertedu.config import BertConfig
from bertedu.corpora.readers import TaggedWords
from bertedu.errors import UserError
from bertedu.finetuning.explaining import shortened
from bertedu.finetuning.tagging import Tagged, TaggingTask
from bertedu.registry import TASKS
from bertedu.visualization import write_finetuning_report
from bertedu.visualization.finetuning_results import finetuning_results
from bertedu.visualization.mistakes import mistakes_html, most_telling
from bertedu.visualization.results import verdicts

SAID = {
    "classification": ("b c ‖ a pair", "y", "x (98%)"),
    "multi-label": ("b", "x, y", "x (78%)"),
    "regression": ("b ‖ c", "5.00", "2.50"),
    "similarity": ("b ‖ c", "5.00", "2.50"),
    "entities": ("<d> e", "e [per]", "<d> [per] (80%), e [per] (60%)"),
    "tagging": ("<d> e", "<d> VERB", "<d> DET (80%)"),
    "question-answering": ("a ‖ b c", "no answer", "b (73%)"),
    "multiple-choice": ("a", "c", "b (70%)"),
    "summarization": ("A b. C d.", "C d.", "A b. (ROUGE-1 0.00, 1.00 below the best choice)"),
}


@pytest.mark.parametrize("task", SAID)
def test_an_error_to_read_is_told_the_right_way_round(task):
    rows = explained(task)
    assert json.loads(json.dumps(rows)) == rows
    telling = most_telling(rows)
    assert telling[0] == rows[1]
    if task not in ("regression", "similarity"):
        assert telling == rows[1:]
    mistake = TASKS[task].in_words(telling[0])
    right, said = SAID[task][1:]
    if task == "entities":
        right, said = "no entity", "<d> [per] (80%)"  # the other is right
    assert (mistake.asked, mistake.right, mistake.said) == (SAID[task][0], right, said)
    page = Page(f"<div>{mistakes_html(telling, task)}</div>")
    assert mistake.said in page.words, "what the model said is text, not HTML"


def test_a_mistake_that_the_model_held_for_unlikely_does_not_count_as_right():
    rows = [TaggedWords(("a",), ("O",))]
    task = TaggingTask(rows, [], TOKENIZER, SETTINGS, ("O", "B-x"))
    assert task.explain(rows, [Tagged(["B-x"], [0.0])])[0]["mistake"] > 0  # cut off: no probability


def test_the_surest_mistake_is_the_first():
    rows = [{"text": str(n), "mistake": n / 30} for n in range(30)]
    telling = most_telling(rows)
    assert [row["text"] for row in telling[:2]] == ["29", "28"] and len(telling) == 20


def test_a_long_text_shows_the_place_that_matters():
    text = " ".join(f"word{number}" for number in range(500))
    part = shortened(text, text.index("word250"))
    assert "word250" in part and len(part) <= 365 and part.startswith("… ") and part.endswith(" …")
    assert shortened(text).startswith("word0 ") and shortened("short") == "short"
    assert shortened(text, len(text)).endswith("word499")


def test_every_word_is_sure_of_itself():
    sure, right = TASKS["tagging"].sure_and_right(explained("tagging"))
    assert sure == [0.9, 0.9, 0.9, 0.8, 0.6] and right == [True, True, True, False, True]
    assert TASKS["question-answering"].sure_and_right(explained("question-answering"))[1] == [True, False]


PICTURES = {
    "classification": {"confusion", "calibration"},
    "multi-label": {"classes", "calibration"},
    "regression": {"scores"},
    "similarity": {"scores"},
    "entities": {"confusion", "calibration"},
    "tagging": {"confusion", "calibration"},
    "question-answering": {"threshold", "calibration"},
    "multiple-choice": {"calibration"},
    "summarization": {"places"},
}


@pytest.mark.parametrize("task", PICTURES)
def test_every_task_gets_a_page_that_fetches_nothing(task, tmp_path):
    folder = save_finetuning_run(tmp_path / "run", task)
    path = write_finetuning_report(folder)
    text = path.read_text("utf-8")
    assert path == folder / "report.html" and fetches(text) == []
    page = Page(text)
    pictures = [named for tag, named in page.tags if tag == "img"]
    assert len(pictures) == len(PICTURES[task]) + 1 and all(len(named["alt"]) > 80 for named in pictures)
    assert {file.stem for file in folder.glob("*.png")} == PICTURES[task] | {"curves"}
    words = " ".join(page.words)
    for told in ("0.500 ± 0.010", "guessing 0.500", "as good or better", "2 rows of test", "data & more.csv", "<base>"):
        assert told in words
    assert "oracle 0.900" not in words and ("at best 0.900 (oracle)" in words) == (task == "summarization")
    assert SAID[task][0] in words


def test_the_threshold_of_the_best_seed_is_told(tmp_path):
    folder = save_finetuning_run(tmp_path / "run", "question-answering")
    metrics = json.loads((folder / "metrics.json").read_text())
    for one, threshold in zip(metrics["runs"], (-2.5, 7.5), strict=True):
        one["decided"] = {"no_answer_threshold": threshold}
    (folder / "metrics.json").write_text(json.dumps({**metrics, "best_seed": 2}))
    words = write_finetuning_report(folder).read_text()
    assert "7.50, chosen on validation" in words and "threshold in use, 7.50, it is" in words and "-2.5" not in words


def test_a_report_without_a_test_says_so(tmp_path):
    words = write_finetuning_report(save_finetuning_run(tmp_path / "run", "classification", test=False)).read_text()
    assert "the figures flatter" in words and "baseline guessing 0.500" in words  # drawn where it was measured
    words = write_finetuning_report(save_finetuning_run(tmp_path / "two", "classification")).read_text()
    assert "the figures flatter" not in words and "baseline guessing" not in words


def test_a_lower_squared_error_counts_as_better():
    figures = {name: {"mean": 0.5, "deviation": 0.0} for name in ("mean_squared_error", "pearson")}
    metrics = {
        **{"task": "regression", "validation": figures, "runs": [{}] * 2},
        "baselines": {"mean": {"mean_squared_error": 0.6, "pearson": 0.6}},
    }
    assert verdicts(finetuning_results(metrics)) == ["Pearson's correlation: the model 0.500 ± 0.000, mean 0.600"]


def test_an_entity_named_error_does_not_count_as_better_when_lower():
    figures = {"f1_error": {"mean": 0.5, "deviation": 0.0}}
    of = {"task": "entities", "validation": figures}
    metrics = {**of, "baselines": {"mean": {"f1_error": 0.6}}, "runs": [{}] * 2}
    assert verdicts(finetuning_results(metrics)) == ["F1 of error: the model 0.500 ± 0.000, mean 0.600"]


def test_one_seed_has_no_deviation():
    of = {"task": "entities", "validation": {"f1": {"mean": 0.5, "deviation": 0.0}}}
    metrics = {**of, "baselines": {}, "runs": [{}]}
    assert finetuning_results(metrics)[0].shown() == "0.500"


def test_a_command_to_copy_is_of_this_run(tmp_path):
    folder = save_finetuning_run(tmp_path / "run", "entities")
    plan = json.loads((folder / "run.json").read_text())
    changed = {"epochs": 5.0, "crf": True, "max_length": 64, "head_rate": 10.0, "layer_decay": 0.5, "patience": 2}
    plan = {**plan, "data": "my data.conll", "dropout": None, "device": "cpu", "seeds": 2, **changed}
    (folder / "run.json").write_text(json.dumps(plan))
    words = write_finetuning_report(folder).read_text()
    three, decay = (html.unescape(one) for one in re.findall(r"<code>(bertedu finetune .*?)</code>", words))
    start = ["bertedu", "finetune", "entities", "--model", "models/<base>", "--data", "my data.conll"]
    same = ["--epochs", "5.0", "--max-length", "64", "--crf"]
    more = ["--head-rate", "10.0", "--learning-rate", "0.0001", "--patience", "2", "--device", "cpu"]
    output = ["--seeds", "3", "--output", "runs/three-seeds"]
    assert shlex.split(three) == [*start, *same, "--layer-decay", "0.5", *more, *output]
    more[-2:-2] = ["--seeds", "2"]
    assert shlex.split(decay) == [*start, *same, *more, "--layer-decay", "0.9", "--output", "runs/layer-decay"]


def test_a_command_to_copy_leaves_out_what_is_the_default(tmp_path):
    folder = save_finetuning_run(tmp_path / "run", "similarity")
    plan = json.loads((folder / "run.json").read_text())
    plan = {**plan, "data": "d.csv", "model": "m", "dropout": None, "pooling": "mean", "max_length": 64}
    (folder / "run.json").write_text(json.dumps({**plan, "learning_rate": 3e-4, "seeds": 1, "device": "auto"}))
    (folder / "checkpoint").mkdir()
    BertConfig(50, 16, 2, 2, 32, max_position_embeddings=64).save(folder / "checkpoint", "BertModel")
    words = write_finetuning_report(folder).read_text()
    assert (
        "<code>bertedu finetune similarity --model m --data d.csv --seeds 3 --output runs/three-seeds</code>" in words
    )


@pytest.mark.parametrize("name", ["run.json", "metrics.json", "predictions.jsonl"])
def test_a_report_on_a_run_that_has_not_ended_is_refused_in_words(name, tmp_path):
    folder = save_finetuning_run(tmp_path / "run", "classification")
    (folder / name).write_text('{"text": ')
    with pytest.raises(UserError, match=re.escape(f"{name}, line 1")):
        write_finetuning_report(folder)
    (folder / name).unlink()
    with pytest.raises(UserError, match=f"has no {name}: give the folder of a run that has ended"):
        write_finetuning_report(folder)
    assert not (folder / "report.html").exists()
