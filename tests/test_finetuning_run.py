"""Fine-tuning from a file to a folder, for every task; seeds, splits, resuming, and what cannot be."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file
from support.finetuning_rows import DATA, LETTERS, made_plan, silent

from bertedu.cli import main
from bertedu.config import BertConfig
from bertedu.corpora.readers import LabelledText
from bertedu.errors import UserError
from bertedu.finetuning import run
from bertedu.finetuning.classification import BertForSequenceClassification, ClassificationTask
from bertedu.finetuning.labels import classification_baselines
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.run import finetune
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tagging import BertForTokenClassification
from bertedu.finetuning.tasks.multiple_choice import BertForMultipleChoice
from bertedu.finetuning.tasks.question_answering import BertForQuestionAnswering
from bertedu.finetuning.tasks.similarity import BertSentenceEncoder
from bertedu.finetuning.tasks.summarization import BertForSummarization
from bertedu.registry import TASKS
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training import loop
from bertedu.training.metrics import read_metrics
from bertedu.training.run_folder import holding

KIND = TASKS["classification"]


LOSSES = {f"{name}_loss" for name in ("text", "word", "window", "pair", "question", "sentence")}
# By task: our class, the one of transformers that opens its folder, and the logits of both for the same tokens.
OPENS_AS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(
        ("classification", "multi-label", "regression"),
        (BertForSequenceClassification, "AutoModelForSequenceClassification"),
    ),
    **dict.fromkeys(("entities", "tagging"), (BertForTokenClassification, "AutoModelForTokenClassification")),
    "question-answering": (BertForQuestionAnswering, "AutoModelForQuestionAnswering"),
    "multiple-choice": (BertForMultipleChoice, "AutoModelForMultipleChoice"),
    "similarity": (BertSentenceEncoder, "AutoModel"),
    "summarization": (BertForSummarization, "AutoModelForTokenClassification"),
}


def logits_of_both(task: str, checkpoint: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """What our class and that of transformers say to two texts (of two choices each), one of them padded."""
    ours_class, theirs_name = OPENS_AS[task]
    theirs, said = getattr(transformers, theirs_name).from_pretrained(checkpoint, output_loading_info=True)
    missing = {name for name in said["missing_keys"] if not (task == "similarity" and name.startswith("pooler."))}
    assert not missing and not said["unexpected_keys"]
    assert theirs.config.architectures == [f"Bert{ours_class.kind}"] or task in ("similarity", "summarization")
    ids = torch.randint(5, 13, (2, 2, 9), generator=torch.Generator().manual_seed(0))
    mask = torch.tensor([[1] * 9, [1] * 6 + [0] * 3]).unsqueeze(1).repeat(1, 2, 1)
    types = torch.tensor([[0] * 4 + [1] * 5]).repeat(2, 2, 1)
    if task != "multiple-choice":
        ids, mask, types = ids[:, 0], mask[:, 0], types[:, 0]
    with torch.no_grad():
        found = ours_class.from_pretrained(checkpoint)(ids, mask, types)
        right = theirs.eval()(input_ids=ids, attention_mask=mask, token_type_ids=types)
    if task == "question-answering":
        return torch.stack([found.start_logits, found.end_logits]), torch.stack([right.start_logits, right.end_logits])
    if task == "similarity":  # the mean over the tokens that are no padding
        real = mask.unsqueeze(-1)
        return found, (right.last_hidden_state * real).sum(dim=1) / real.sum(dim=1)
    return (found, right.logits.squeeze(-1)) if task == "summarization" else (found.logits, right.logits)


@pytest.mark.parametrize("task", OPENS_AS)
def test_every_task_reaches_its_folder(task, base, tmp_path):
    published = {"pooling": "pooler"} if "Sequence" in OPENS_AS[task][1] else {}  # the one that transformers reads
    plan = made_plan(tmp_path, base, task, test=str(tmp_path / DATA[task][0]), **published)
    metrics = finetune(plan, TASKS[task], silent)
    assert metrics == json.loads((tmp_path / "run/metrics.json").read_text())
    assert metrics["rows"] == {"train": 36, "validation": 4, "test": 40}
    assert metrics["test"].keys() == metrics["validation"].keys()
    (best_by,) = {name for name, value in metrics["runs"][0]["validation"].items() if name in figures_of(task)}
    assert metrics["runs"][0]["quality"] == metrics["runs"][0]["validation"][best_by]
    for figures in metrics["baselines"].values():
        assert figures.keys() & metrics["test"].keys() and all(math.isfinite(value) for value in figures.values())
    (loss,) = {name for line in read_metrics(tmp_path / "run/seed-0") for name in line if name in LOSSES}
    told = [line for line in read_metrics(tmp_path / "run/seed-0") if f"validation_{loss}" in line]
    assert len(told) == 2 and all(0 < line[f"validation_{loss}"] < 20 for line in told)
    checkpoint = tmp_path / "run/checkpoint"
    ours, theirs = logits_of_both(task, checkpoint)
    assert ours.shape == theirs.shape and torch.allclose(ours, theirs, atol=1e-5)
    assert ours.abs().max() > 1e-3
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    assert tokenizer.model_max_length == BertConfig.load(checkpoint).max_position_embeddings
    assert tokenizer.get_vocab() == {token: number for number, token in enumerate([*SPECIAL_TOKENS, *LETTERS, "."])}


def figures_of(task: str) -> set[str]:
    """The figure that a task is chosen by."""
    return {
        "multi-label": {"micro_f1"},
        "regression": {"spearman"},
        "entities": {"f1"},
        "question-answering": {"f1"},
        "similarity": {"spearman"},
        "summarization": {"rouge1"},
    }.get(task, {"accuracy"})


def test_seeds_are_different_runs_and_their_spread_is_right(base, tmp_path):
    metrics = finetune(made_plan(tmp_path, base, "regression", seeds=2), TASKS["regression"], silent)
    one, two = (load_file(tmp_path / f"run/seed-{seed}/checkpoint/model.safetensors") for seed in (0, 1))
    assert not torch.equal(one["classifier.weight"], two["classifier.weight"])
    errors = [run["validation"]["mean_squared_error"] for run in metrics["runs"]]
    spread = metrics["validation"]["mean_squared_error"]
    assert spread["mean"] == pytest.approx(sum(errors) / 2)
    assert spread["deviation"] == pytest.approx(abs(errors[0] - errors[1]) / math.sqrt(2))


def test_predictions_are_of_the_best_seed_and_its_rows(base, tmp_path, monkeypatch):
    asked = []
    predictions = ClassificationTask.predictions
    monkeypatch.setattr(
        ClassificationTask, "predictions", lambda *given: asked.append(len(given[2])) or predictions(*given)
    )
    plan = made_plan(tmp_path, base, "classification", seeds=2, test=str(tmp_path / "d.jsonl"))
    metrics = finetune(plan, TASKS["classification"], silent)
    assert asked == [4, 4, 4, 40] * 2, "two validations, then each row of validation and test once"
    rows = [json.loads(line) for line in (tmp_path / "run/predictions.jsonl").read_text().splitlines()]
    given = [json.loads(line) for line in DATA["classification"][1].splitlines()]
    assert [(row["text"], row["label"]) for row in rows] == [(row["text"], row["label"]) for row in given]
    best = next(run for run in metrics["runs"] if run["seed"] == metrics["best_seed"])
    assert best["quality"] == max(run["quality"] for run in metrics["runs"])
    assert sum(row["prediction"] == row["label"] for row in rows) / 40 == best["test"]["accuracy"]
    of_seed = tmp_path / f"run/seed-{metrics['best_seed']}"
    assert (of_seed / "predictions.jsonl").read_text() == (tmp_path / "run/predictions.jsonl").read_text()
    assert sum("text_loss" in line for line in read_metrics(of_seed)) == 3, "a run of three steps has no curve"


def test_a_stopped_run_goes_on_and_no_run_is_overwritten(base, tmp_path):
    whole = finetune(made_plan(tmp_path, base, "classification"), TASKS["classification"], silent)
    with pytest.raises(UserError, match="holds a run already"):
        finetune(made_plan(tmp_path, base, "classification"), TASKS["classification"], silent)
    resumed = FinetuningPlan.from_options({}, resume=tmp_path / "run")
    assert resumed.resume and resumed.settings.epochs == 1.0 and resumed.training.precision == "fp32"
    assert finetune(resumed, TASKS["classification"], silent)["runs"][0]["validation"] == whole["runs"][0]["validation"]


class Killed(BaseException):
    """Stands for a kill."""


def killed(*anything, **more) -> None:
    raise Killed


@pytest.mark.parametrize("again", ["resume", "start"])
def test_a_run_killed_before_its_first_state_can_be_resumed(base, tmp_path, monkeypatch, again):
    whole = finetune(made_plan(tmp_path, base, "classification", output=tmp_path / "whole"), KIND, silent)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(loop, "save_state", killed)
        finetune(made_plan(tmp_path, base, "classification"), KIND, silent)
    assert (tmp_path / "run/run.json").exists()
    plan = made_plan(tmp_path, base, "classification")
    if again == "resume":
        plan = FinetuningPlan.from_options({}, resume=tmp_path / "run")
    assert finetune(plan, KIND, silent)["runs"][0]["validation"] == whole["runs"][0]["validation"]


@pytest.mark.parametrize("lost", ["copy_checkpoint", "copy_file", "write_json", "judge"])
def test_figures_of_a_run_killed_after_its_training_are_computed_on_resuming(base, tmp_path, monkeypatch, lost):
    whole = finetune(made_plan(tmp_path, base, "classification", output=tmp_path / "whole"), KIND, silent)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(run, lost, killed)
        finetune(made_plan(tmp_path, base, "classification"), KIND, silent)
    before = (tmp_path / "run/seed-0/checkpoint-best/model.safetensors").read_bytes()
    found = finetune(FinetuningPlan.from_options({}, resume=tmp_path / "run"), KIND, silent)
    assert (found["validation"], found["baselines"]) == (whole["validation"], whole["baselines"])
    assert (tmp_path / "run/checkpoint/model.safetensors").read_bytes() == before
    for name in ("predictions.jsonl", "checkpoint/config.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_baseline_that_cannot_be_measured_is_told_before_training(base, tmp_path):
    def refuse(train, test):
        raise UserError("no baseline for these rows")

    with pytest.raises(UserError, match="no baseline"):
        refusing = type("Refusing", (KIND,), {"baselines": staticmethod(refuse)})
        finetune(made_plan(tmp_path, base, "classification"), refusing, silent)
    assert not (tmp_path / "run").exists(), "it was trained before anybody asked"


def test_two_runs_in_one_folder_are_kept_apart(base, tmp_path):
    plan = made_plan(tmp_path, base, "classification")
    with holding(tmp_path / "run"), pytest.raises(UserError, match="is in use by another run"):
        finetune(plan, KIND, silent)
    assert finetune(plan, KIND, silent), "the lock was not given back"


@pytest.mark.parametrize(("asked", "expected"), [(None, 0.1), (0.0, 0.0), (0.3, 0.3)])
def test_the_dropout_asked_for_is_used(base, asked, expected):
    model = with_new_head(BertForQuestionAnswering, str(base), FinetuningSettings(dropout=asked))
    assert model.config.hidden_dropout_prob == model.config.attention_probs_dropout_prob == expected


def test_a_frozen_encoder_stays(base, tmp_path):
    finetune(made_plan(tmp_path, base, "classification", freeze_encoder=True), TASKS["classification"], silent)
    before = load_file(base / "model.safetensors")
    after = load_file(tmp_path / "run/seed-0/checkpoint/model.safetensors")
    same = {name for name in after if name in before and torch.equal(before[name], after[name])}
    assert {name for name in after if name.startswith(("bert.encoder", "bert.embeddings"))} <= same
    assert "bert.pooler.dense.weight" not in same


def test_the_bag_of_words_learns_nothing_from_the_test():
    train = [LabelledText(f"good {i}", "yes") for i in range(9)] + [LabelledText(f"bad {i}", "no") for i in range(5)]
    test = [LabelledText("a good one", "yes"), LabelledText("a bad one", "no")]
    found = classification_baselines(train, test, "single_label_classification")
    assert found["bag of words"]["accuracy"] == 1.0 and found["most frequent class"]["accuracy"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sentiment"], "no task 'sentiment': choose one of classification"),
        ([], "there is no task: choose one of"),
        (["classification"], "there is no data"),
        (["classification", "--data", "nowhere.csv"], "nowhere.csv"),
        (["classification", "--data", "nowhere.csv", "--epochs", "0"], "epochs is 0"),
        (["classification", "--data", "nowhere.csv", "--max-length", "100"], "max_length is 100"),
        (["classification", "--data", "nowhere.csv", "--seeds", "0"], "seeds is 0"),
        (["--resume", "nowhere"], "nowhere holds no run.json"),
    ],
)
def test_a_mistake_is_told_in_words_and_leaves_no_folder(arguments, message, base, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if message == "max_length is 100":
        (tmp_path / "nowhere.csv").write_text("text,label\n" + "a,x\nb,y\n" * 10)
    model = ["--model", str(base)] if "--resume" not in arguments else []
    with pytest.raises(SystemExit) as ended:
        main(["finetune", *arguments, *model])
    said = capsys.readouterr().err.strip()
    assert ended.value.code == 2 and message in said and "\n" not in said
    assert not (tmp_path / "runs").exists()


def test_the_command_prints_its_figures(base, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.conll").write_text(DATA["entities"][1])
    with pytest.raises(SystemExit) as ended:
        main(["finetune", "entities", "--data", "d.conll", "--model", str(base), "--epochs", "1", "--crf"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert "validation, 4 rows, 1 seed" in said and "most frequent tag of the word 1.000" in said
    assert (tmp_path / "runs/entities-d/checkpoint/model.safetensors").exists()
    assert "The report: runs/entities-d/report.html" in said and (tmp_path / "runs/entities-d/report.html").exists()
    assert all(told in said for told in ("as good or better:", "What may help:", "the model: ")), (
        "no word of what was not beaten, or no error to read"
    )


def test_an_answer_is_looked_for_in_exactly_one_text(base, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    finetune(made_plan(tmp_path, base, "question-answering"), TASKS["question-answering"], silent)
    (tmp_path / "text.txt").write_text("A b c d.")
    for given, code in ((["text.txt"], 0), (["--text", "A b c d."], 0), ([], 2), (["text.txt", "--text", "A"], 2)):
        with pytest.raises(SystemExit) as ended:
            main(["answer", "a b", *given, "--model", "run"])
        said = capsys.readouterr()
        assert ended.value.code == code
        assert said.out.startswith("The model says: ") == (code == 0)
        assert ("no answer in this text" in said.out) == (code == 0) != ("one text to look in" in said.err)
