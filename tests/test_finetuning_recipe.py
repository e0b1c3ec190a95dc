"""What a fine-tuning run chooses where no option says otherwise: by the model and the texts, said, kept, overridden."""

import json

import pytest
from click.testing import CliRunner
from support import finetuning_rows as runs
from support.pages import Page

from bertedu.cli import main
from bertedu.config import BertConfig
from bertedu.finetuning import recipe
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.run import finetune
from bertedu.model import BertForPreTraining
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.visualization import write_finetuning_report
from bertedu.visualization.finetuning_report import again
from bertedu.visualization.finished_runs import read_finetuning_run

KIND = TASKS["classification"]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A BERT of one layer, wider than those that learn from their token vectors."""
    folder = tmp_path_factory.mktemp("wide")
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, *runs.LETTERS, "."])
    BertForPreTraining(BertConfig(len(tokenizer), 396, 1, 12, 32, max_position_embeddings=64)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def open_plan(folder, base, task="classification", **options) -> FinetuningPlan:
    """A plan that says nothing of the passes."""
    return runs.made_plan(folder, base, task, **{"epochs": None, **options})


@pytest.mark.parametrize(("tokens", "passes"), [(1, 12), (50_000, 12), (100_000, 6), (170_000, 4), (10_000_000, 3)])
def test_a_small_model_reads_short_texts_more_often(tokens, passes):
    assert recipe.passes(256, tokens)[0] == passes and recipe.passes(257, tokens)[0] == 3


@pytest.mark.parametrize(("size", "pooling"), [(256, "max"), (384, "max"), (385, "pooler"), (768, "pooler")])
def test_models_up_to_the_size_of_minilm_learn_from_the_maximum_of_their_tokens(size, pooling):
    assert recipe.of_model(size, {"pooling"})["pooling"][0] == pooling


def test_a_small_model_and_a_published_one_get_what_suits_them(base, wide, tmp_path):
    small, large = open_plan(tmp_path, base), open_plan(tmp_path, wide)
    assert (small.settings.pooling, small.training.learning_rate) == ("max", 3e-4)
    assert (large.settings.pooling, large.training.learning_rate) == ("pooler", 1e-4)
    for plan, size in ((small, 16), (large, 396)):
        assert set(plan.chosen) == {"pooling", "learning_rate"} and plan.passes_open
        assert all(f"hidden size {size}" in why for why in plan.chosen.values())


def test_a_task_that_knows_no_pooling_gets_none_and_one_that_has_its_own_keeps_it(base, tmp_path):
    assert open_plan(tmp_path, base, "tagging").settings.pooling == "pooler"  # which nothing reads
    similarity = open_plan(tmp_path, base, "similarity")
    assert similarity.settings.pooling == "mean" and "pooling" not in similarity.chosen


def test_options_are_stronger_than_what_would_be_chosen(base, tmp_path):
    given = {"pooling": "cls", "learning_rate": 1e-3, "epochs": 2.0}
    plan = runs.made_plan(tmp_path, base, "classification", **given)
    assert (plan.settings.pooling, plan.training.learning_rate, plan.settings.epochs) == ("cls", 1e-3, 2.0)
    assert plan.chosen == {} and not plan.passes_open


def test_a_run_says_keeps_and_reports_what_was_chosen(base, tmp_path):
    said: list[str] = []
    finetune(open_plan(tmp_path, base, learning_rate=1e-3), KIND, said.append)
    saved = json.loads((tmp_path / "run/run.json").read_text())
    assert saved["epochs"] == 12.0 and saved["pooling"] == "max" and saved["validations"] == 10
    assert saved["chosen"].keys() == {"pooling", "epochs"}
    for name, value in (("pooling", "max"), ("epochs", "12.0")):
        assert f"  {name} {value}: {saved['chosen'][name]}" in said
    run = read_finetuning_run(tmp_path / "run")
    words = Page(write_finetuning_report(tmp_path / "run").read_text(encoding="utf-8")).words
    assert all(why in words for why in saved["chosen"].values())
    command = again(run, seeds=3)
    assert "--epochs" not in command and "--pooling" not in command and "--learning-rate 0.001" in command


def test_a_resumed_run_keeps_what_was_chosen(base, tmp_path, monkeypatch):
    finetune(open_plan(tmp_path, base), KIND, runs.silent)
    before = json.loads((tmp_path / "run/run.json").read_text())
    monkeypatch.setattr(recipe, "passes", lambda *_: (5.0, "by another version"))
    monkeypatch.setattr(recipe, "of_model", lambda *_: {"pooling": ("cls", "by another version")})
    resumed = FinetuningPlan.from_options({}, resume=tmp_path / "run", seeds=2)
    metrics = finetune(resumed, KIND, runs.silent)
    assert metrics is not None and metrics["runs"][0]["steps"] == metrics["runs"][1]["steps"] == 12 * 3
    assert json.loads((tmp_path / "run/run.json").read_text()) == {**before, "seeds": 2}


def test_who_gets_a_folder_that_transformers_cannot_open_is_told(base, tmp_path):
    (tmp_path / "d.jsonl").write_text(runs.DATA["classification"][1])
    for pooling, told in (("max", True), ("pooler", False)):
        asked = ["finetune", "classification", "--data", tmp_path / "d.jsonl", "--model", base, "--epochs", "1"]
        asked += ["--output", tmp_path / pooling, "--pooling", pooling, "--device", "cpu"]
        found = CliRunner().invoke(main, list(map(str, asked)))
        assert found.exit_code == 0 and ("--pooling pooler" in found.output) == told
