"""Options of a fine-tuning run: what cannot be is refused before anything is written, what a task ignores too."""

import json
from dataclasses import fields

import pytest
import torch
from support import finetuning_rows as runs

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.finetuning.plan import FinetuningPlan, known_to
from bertedu.finetuning.run import finetune, spread
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.spans import entity_figures
from bertedu.registry import TASKS
from bertedu.training.settings import TrainingSettings


def test_an_entity_that_one_seed_alone_finds_counts_0_for_the_others():
    found = spread(
        [
            entity_figures([["B-per", "O"]], [["B-per", "B-misc"]]),
            entity_figures([["B-per", "O"], ["B-org"]], [["B-per", "O"], ["B-org"]]),
        ]
    )
    assert found["f1_misc"] == {"mean": 0.0, "deviation": 0.0}
    assert found["f1_org"]["mean"] == 0.5 and found["f1_per"]["mean"] == 1.0


@pytest.mark.parametrize("task", ["similarity"])
def test_a_model_with_nothing_left_to_learn_is_refused(task, base, tmp_path):
    with pytest.raises(UserError, match=r"nothing is left to learn.*--freeze-encoder.*--pooling pooler"):
        finetune(runs.made_plan(tmp_path, base, task, freeze_encoder=True), TASKS[task], runs.silent)
    assert not (tmp_path / "run").exists()
    plan = runs.made_plan(tmp_path, base, task, freeze_encoder=True, pooling="pooler")
    assert finetune(plan, TASKS[task], runs.silent)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--epochs", "inf"), "'inf' is not a finite number"),
        (("--epochs", "nan"), "'nan' is not a finite number"),
        (("--epochs", "1e308"), "epochs is 1e+308"),
        (("--head-rate", "inf"), "'inf' is not a finite number"),
        (("--learning-rate", "-1"), "learning_rate is -1.0"),
        (("--learning-rate", "0"), "learning_rate is 0.0"),
        (("--learning-rate", "nan"), "'nan' is not a finite number"),
        (("--learning-rate", "inf"), "'inf' is not a finite number"),
        (("--accumulation", "0"), "accumulation is 0"),
        (("--accumulation", "-1"), "accumulation is -1"),
        (("--patience", "-1"), "patience is -1"),
        (("--seed", "99999999999999999999"), "seed is 99999999999999999999"),
        (("--seed", "-1"), "seed is -1"),
        (("--device", "cuda"), "no cuda device"),
    ],
)
def test_a_number_that_cannot_be_is_refused_in_words_and_leaves_no_folder(
    options, says, base, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (tmp_path / "d.jsonl").write_text(runs.DATA["classification"][1])
    given = ["--data", str(tmp_path / "d.jsonl"), "--model", str(base), "--output", str(tmp_path / "run"), *options]
    with pytest.raises(SystemExit) as ended:
        main(["finetune", "classification", *given])
    said = capsys.readouterr().err.strip()
    assert ended.value.code == 2 and says in said and "\n" not in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("task", ["classification", "tagging", "question-answering"])
def test_fine_tuning_remembers_gradients_longer_than_a_short_pretraining_run(task, base, tmp_path):
    """Adam's beta2 0.98 looks back about 50 steps; that of Google's code, 0.999, about 1,000."""
    plan = runs.made_plan(tmp_path, base, task)
    assert plan.training.betas == (0.9, 0.999) and TrainingSettings(learning_rate=1e-3).betas == (0.9, 0.98)
    plan.save()
    assert FinetuningPlan.from_options({}, resume=tmp_path / "run").training.betas == (0.9, 0.999)


def test_a_run_is_not_resumed_into_another_folder(base, tmp_path):
    runs.made_plan(tmp_path, base, "classification").save()
    with pytest.raises(UserError, match="leave --output out"):
        FinetuningPlan.from_options({}, resume=tmp_path / "run", output=tmp_path / "other")


def test_a_run_is_not_resumed_with_another_seed(base, tmp_path):
    runs.made_plan(tmp_path, base, "classification", seed=3).save()
    with pytest.raises(UserError, match="began with seed 3"):
        FinetuningPlan.from_options({}, resume=tmp_path / "run", seed=5)
    assert FinetuningPlan.from_options({}, resume=tmp_path / "run", seed=3).settings.seed == 3


def test_validation_rows_stay_those_that_chose_the_weights(base, tmp_path):
    kind = TASKS["classification"]
    finetune(runs.made_plan(tmp_path, base, "classification"), kind, runs.silent)
    (tmp_path / "other.jsonl").write_text((tmp_path / "d.jsonl").read_text().splitlines()[0] + "\n")
    other = FinetuningPlan.from_options({}, resume=tmp_path / "run", validation=str(tmp_path / "other.jsonl"))
    with pytest.raises(UserError, match=r"is of another run.*validation was"):
        finetune(other, kind, runs.silent)


def test_pooling_of_layers_that_a_model_lacks_is_refused(base, tmp_path):
    with pytest.raises(UserError, match="2 layers, and pooling 'last four layers' needs four"):
        runs.made_plan(tmp_path, base, "classification", pooling="last four layers")


def test_a_rate_for_a_head_that_is_not_there_is_refused(base, tmp_path):
    plan = runs.made_plan(tmp_path, base, "similarity", head_rate=5.0)
    with pytest.raises(UserError, match="has no head: leave --head-rate out"):
        finetune(plan, TASKS["similarity"], runs.silent)
    assert not plan.folder.exists()


def test_what_is_changed_on_resuming_is_kept_and_a_refusal_spoils_nothing(base, tmp_path):
    kind = TASKS["classification"]
    finetune(runs.made_plan(tmp_path, base, "classification"), kind, runs.silent)
    before = (tmp_path / "run/run.json").read_text()
    vocabulary = (tmp_path / "run/seed-0/checkpoint/vocab.txt").read_text()
    with pytest.raises(UserError, match="is of another run"):
        finetune(FinetuningPlan.from_options({}, resume=tmp_path / "run", epochs=2.0), kind, runs.silent)
    assert (tmp_path / "run/run.json").read_text() == before
    assert (tmp_path / "run/seed-0/checkpoint/vocab.txt").read_text() == vocabulary
    changed = {"seeds": 2, "test": str(tmp_path / "d.jsonl")}
    metrics = finetune(FinetuningPlan.from_options({}, resume=tmp_path / "run", **changed), kind, runs.silent)
    assert metrics is not None and len(metrics["runs"]) == 2 and metrics["rows"]["test"] == 40
    assert json.loads((tmp_path / "run/run.json").read_text()) == {**json.loads(before), **changed}


@pytest.mark.parametrize(
    ("task", "options", "says"),
    [
        ("classification", {"crf": True}, "--crf is for entities and tagging"),
        ("tagging", {"class_weights": "balanced"}, "--class-weights is for classification"),
        ("question-answering", {"class_weights": "balanced"}, "--class-weights is for classification"),
        (
            "question-answering",
            {"pooling": "mean"},
            "--pooling is for classification, multi-label, ordinal",
        ),
        ("multiple-choice", {"pooling": "cls"}, "--pooling is for"),
    ],
)
def test_an_option_that_a_task_does_not_know_is_refused(task, options, says, base, tmp_path):
    with pytest.raises(UserError, match=says):
        runs.made_plan(tmp_path, base, task, **options)


def test_every_option_is_known_to_tasks_that_exist():
    assert known_to().keys() <= {field.name for field in fields(FinetuningSettings)}
    assert {task for tasks in known_to().values() for task in tasks} <= TASKS.keys()
