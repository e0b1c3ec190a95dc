"""What holds for every task: who adds one hears here what was forgotten. And what ordinal regression computes."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from sklearn.metrics import cohen_kappa_score
from support.finetuning_rows import DATA, made_plan, silent
from torch.nn.functional import cross_entropy

from bertedu import visualization
from bertedu.cli import main
from bertedu.config import BertConfig, TaskConfig
from bertedu.corpora.readers import LabelledText
from bertedu.errors import UserError
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.run import finetune
from bertedu.finetuning.tasks.ordinal_regression import (
    OrdinalRegressionTask,
    RatingModel,
    log_probabilities,
    rating_figures,
)
from bertedu.production.uses import open_to_export
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.visualization import write_finetuning_report
from bertedu.visualization.finetuning_results import finetuning_results
from bertedu.visualization.finished_runs import read_predictions

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_in_the_help_and_on_the_page_of_tasks(task):
    said = CliRunner().invoke(main, ["finetune", "--help"]).output
    assert re.search(rf"^ *{task}: \w", said, re.MULTILINE) and f"bertedu finetune {task} --data" in said
    front = (REPOSITORY / "docs" / "finetuning.md").read_text(encoding="utf-8")
    shipped = (REPOSITORY / "data/tasks/README.md").read_text(encoding="utf-8")
    assert f"| `{task}` |" in front and (f"| {task} |" in shipped or task == "regression"), "its row is missing"


@pytest.mark.parametrize("task", TASKS)
def test_a_run_of_every_task_has_its_page_goes_on_and_is_exported_or_refused(task, base, tmp_path):
    """By its options to the page; gone on with; and exported, or refused in words."""
    of = TASKS[task]
    metrics = finetune(made_plan(tmp_path, base, task, test=str(tmp_path / DATA[task][0])), of, silent)
    rows = read_predictions(tmp_path / "run/predictions.jsonl", task)
    assert len(rows) == 40
    assert finetuning_results(metrics) and all(row.baselines for row in finetuning_results(metrics)[:1])
    assert of.measure(metrics["runs"][0]["chosen_by"]) is not None
    for figures in metrics["baselines"].values():
        assert figures.keys() <= metrics["test"].keys() | {"best_threshold"}
    text = write_finetuning_report(tmp_path / "run").read_text(encoding="utf-8")
    pictures = of.pictures(rows, visualization)
    assert pictures and all(
        caption.split(".")[0].split("&")[0].split("'")[0] in text for _, caption in pictures.values()
    )
    resumed = FinetuningPlan.from_options({}, resume=tmp_path / "run")
    assert resumed.task == task and finetune(resumed, of, silent)["validation"] == metrics["validation"]
    if of.use:
        assert open_to_export(tmp_path / "run")[2] == of.use
    else:
        with pytest.raises(UserError, match="is not exported: give a model for classes"):
            open_to_export(tmp_path / "run")


@pytest.mark.parametrize("task", TASKS)
def test_a_baseline_has_the_figure_by_which_weights_are_chosen(task, base, tmp_path):
    of = TASKS[task]
    name, content = DATA[task]
    (tmp_path / name).write_text(content, encoding="utf-8")
    rows = of.read_rows(str(tmp_path / name))
    made = made_plan(tmp_path, base, task)
    network, learning = of.make(rows[:20], rows[20:], BertTokenizer.from_pretrained(base), str(base), made.settings)
    assert type(network) in of.networks and isinstance(learning, of)
    baselines = of.baselines(rows[:20], rows[20:])
    assert all(learning.best_by in figures for figures in baselines.values())
    assert of.use == "" or of.serves(network.task_config)


def test_the_best_weights_are_kept_where_less_is_better():
    class ByDistance(OrdinalRegressionTask):
        best_by = "mean_absolute_distance"

    made = object.__new__(ByDistance)
    assert made.quality({"mean_absolute_distance": 2.0}) < made.quality({"mean_absolute_distance": 1.0})
    made = object.__new__(OrdinalRegressionTask)
    assert made.quality({"quadratic_weighted_kappa": 0.2}) < made.quality({"quadratic_weighted_kappa": 0.7})


def test_a_better_model_beats_its_baselines():
    """A distance of 0.5 beats one of 1.2; a kappa of 0.5 beats 0."""
    figures = {"quadratic_weighted_kappa": 0.5, "mean_absolute_distance": 0.5, "accuracy": 0.6}
    baseline = {"quadratic_weighted_kappa": 0.0, "mean_absolute_distance": 1.2, "accuracy": 0.2}
    metrics = {
        **{"task": "ordinal-regression", "runs": [{}], "baselines": {"the median": baseline}},
        "test": {name: {"mean": value, "deviation": 0.0} for name, value in figures.items()},
    }
    assert all(row.beats(row.baselines[0][1]) for row in finetuning_results(metrics))


# Ordinal regression ---------------------------------------------------------------------------------------------------


def test_the_probabilities_of_ratings_by_hand():
    """σ(score - threshold) says how likely a rating above it is; neighbours' differences are the ratings' own."""
    thresholds, score = torch.tensor([-1.0, 0.5, 2.0]), torch.tensor([[0.3], [-4.0], [30.0]])
    above = torch.sigmoid(score - thresholds)
    edges = torch.cat([torch.ones(3, 1), above, torch.zeros(3, 1)], dim=1)
    right = edges[:, :-1] - edges[:, 1:]
    found = log_probabilities(score, thresholds)
    torch.testing.assert_close(found.exp(), right, atol=1e-6, rtol=1e-4)
    assert found.isfinite().all(), "far from all thresholds a probability is small, and still one"
    torch.testing.assert_close(found.exp().sum(dim=1), torch.ones(3))


def test_thresholds_never_cross_and_the_loss_is_the_log_probability():
    torch.manual_seed(0)
    config = BertConfig(30, 16, 1, 2, 32, max_position_embeddings=16)
    model = RatingModel.from_config(config, TaskConfig(tuple("12345"), pooling="mean"))
    assert model.thresholds().tolist() == pytest.approx([-1.5, -0.5, 0.5, 1.5])
    with torch.no_grad():
        model.gaps.copy_(torch.tensor([-5.0, 3.0, -9.0]))
    assert (model.thresholds().diff() > 0).all()
    ids, labels = torch.randint(5, 30, (4, 7)), torch.tensor([0, 4, 2, 1])
    output = model.eval()(ids, labels=labels)
    right = -output.logits.exp()[range(4), labels].log().mean()
    torch.testing.assert_close(output.loss, right)
    torch.testing.assert_close(output.loss, cross_entropy(output.logits, labels))


def test_kappa_and_distance_by_another_library():
    rng = np.random.default_rng(0)
    right, found = rng.integers(1, 6, 200), rng.integers(1, 6, 200)
    figures = rating_figures(right, found)
    assert figures["quadratic_weighted_kappa"] == pytest.approx(cohen_kappa_score(right, found, weights="quadratic"))
    assert figures["mean_absolute_distance"] == pytest.approx(float(abs(right - found).mean()))
    same = np.array([3, 3, 3])
    assert rating_figures(same, same) == {
        **{"quadratic_weighted_kappa": 0.0, "mean_absolute_distance": 0.0, "accuracy": 1.0}
    }


def test_the_median_of_the_probabilities_is_said():
    task = object.__new__(OrdinalRegressionTask)
    task.lowest = 1
    assert task.chosen(np.array([0.1, 0.2, 0.3, 0.4])) == 3, "the likeliest is 4, the middle is 3"
    rows = [LabelledText("a", 4.0), LabelledText("b", 3.0)]
    said = task.explain(rows, [np.array([0.1, 0.2, 0.3, 0.4])] * 2)
    assert [row["mistake"] for row in said] == [pytest.approx(0.3 / 3), 0.0] and said[0]["prediction"] == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,score\na,1\nb,2.5\n", "the rating of 'b' is 2.5: give a whole number"),
        ("text,score\na,3\nb,3\n", "all ratings are the same"),
    ],
)
def test_what_is_no_rating_is_refused(tmp_path, content, message):
    (tmp_path / "d.csv").write_text(content)
    with pytest.raises(UserError, match=message):
        OrdinalRegressionTask.read_rows(str(tmp_path / "d.csv"))
    (tmp_path / "t.csv").write_text("text,score\na,7\n")
    with pytest.raises(UserError, match="7"):
        OrdinalRegressionTask.read_rows(
            str(tmp_path / "t.csv"), "test", [LabelledText("a", 1.0), LabelledText("b", 5.0)]
        )
