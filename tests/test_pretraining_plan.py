"""What a run is asked to do, from options and from the run.json of a run to go on with."""

from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.files import read_json
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.settings import LEARNING_RATES, PretrainingSettings


def test_nothing_asked_for_is_five_minutes_of_tiny_on_the_documentation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = Plan.from_options()
    assert plan.corpus == ("documentation",) and plan.settings == PretrainingSettings.for_preset("tiny")
    assert (plan.budget.minutes, plan.folder, plan.resume) == (5, Path("runs/documentation-tiny"), False)
    assert plan.training.learning_rate == LEARNING_RATES["tiny"]


def test_options_reach_the_setting_of_their_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = Plan.from_options(
        corpus=("a/book.txt", "b.txt"), preset="mini", steps=7, seed=3, learning_rate=0.25, batch_size=5,
        accumulation=2, whole_words=True, pairs=None,
    )  # fmt: skip
    assert (plan.settings.preset, plan.settings.batch_size, plan.settings.whole_words) == ("mini", 5, True)
    assert plan.settings.seed == plan.training.seed == 3
    assert (plan.training.learning_rate, plan.training.accumulation) == (0.25, 2)
    assert (plan.budget.steps, plan.folder) == (7, Path("runs/book-mini"))


@pytest.mark.parametrize("name", ["minutes", "tokens", "steps"])
def test_a_budget_of_nothing_is_refused_and_not_replaced_by_five_minutes(name):
    with pytest.raises(UserError, match=f"{name} is 0"):
        Plan.from_options(**{name: 0})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "huge"}, "no preset 'huge'"),
        ({"minutes": 1, "steps": 2}, "exactly one of minutes, tokens and steps"),
        ({"max_length": 7}, "max_length is 7"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"depth": 3}, "no option 'depth'"),
        ({"resume": "nowhere"}, "nowhere has no run.json"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(UserError, match=message):
        Plan.from_options(**options)


def test_a_resumed_plan_is_the_one_that_was_saved(tmp_path):
    plan = Plan.from_options(
        corpus=("world",), preset="mini", tokens=1000, seed=4, precision="fp32", device="cpu", output=tmp_path,
        mask_rates=(0.2, 0.2), betas=(0.8, 0.9),
    )  # fmt: skip
    plan.save()
    again = Plan.from_options(resume=tmp_path)
    assert again.resume
    assert {**vars(again), "resume": False} == vars(plan)


def test_the_command_line_does_not_change_a_resumed_run(tmp_path, monkeypatch):
    """A default of the command line, such as precision auto, would override what the run was started with."""
    plan = Plan.from_options(corpus=("world",), steps=9, precision="fp32", device="cpu", output=tmp_path)
    plan.save()
    plans = []
    monkeypatch.setattr("bertedu.pretraining.run.pretrain", lambda plan, **_: plans.append(plan))
    CliRunner().invoke(main, ["pretrain", "--resume", str(tmp_path)])
    assert len(plans) == 1
    assert asdict(plans[0].training) == asdict(plan.training) and plans[0].settings == plan.settings


def test_another_budget_for_a_resumed_run_is_refused_in_one_sentence(tmp_path):
    Plan.from_options(steps=9, output=tmp_path).save()
    result = CliRunner().invoke(main, ["pretrain", "--resume", str(tmp_path), "--minutes", "3"])
    assert result.exit_code == 2
    assert "exactly one of minutes, tokens and steps" in result.output


def test_run_json_says_what_was_asked_for(tmp_path):
    Plan.from_options(steps=9, output=tmp_path, seed=2).save()
    saved = read_json(tmp_path / "run.json")
    assert (saved["steps"], saved["seed"], saved["corpus"]) == (9, 2, ["documentation"])


def test_a_second_run_gets_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = []
    for _ in range(3):
        plan = Plan.from_options(corpus=("world",), steps=1)
        plan.save()
        folders.append(plan.folder.as_posix())
    assert folders == ["runs/world-tiny", "runs/world-tiny-2", "runs/world-tiny-3"]


def test_the_published_start_trains_with_the_optimizer_of_the_paper():
    assert Plan.from_options(steps=1).training.optimizer == "muon"
    assert Plan.from_options(steps=1, initialization="published").training.optimizer == "adamw"
    assert Plan.from_options(steps=1, optimizer="adamw").training.optimizer == "adamw"


@pytest.mark.parametrize("preset", ["base", "large"])
def test_base_is_trained_by_the_published_recipe(preset):
    """Devlin et al. 2019, section 3.1 and appendix A.2; told otherwise, a field is as told and the others stay."""
    plan = Plan.from_options(preset=preset, steps=1)
    settings, training = plan.settings, plan.training
    assert (settings.mask_rates, settings.initialization, settings.dropout) == ((0.15, 0.15), "published", 0.1)
    assert (settings.vocab_size, settings.batch_size, settings.pairs) == (30522, 256, "next")
    assert (training.optimizer, training.learning_rate, training.betas) == ("adamw", 1e-4, (0.9, 0.999))
    assert (training.warmup, training.weight_decay) == (0.01, 0.01)
    told = Plan.from_options(preset=preset, steps=1, mask_rates=(0.4, 0.3), optimizer="muon", warmup=0.1, dropout=0.0)
    assert (told.settings.mask_rates, told.settings.dropout) == ((0.4, 0.3), 0.0)
    assert (told.training.optimizer, told.training.warmup, told.training.betas) == ("muon", 0.1, (0.9, 0.999))


def test_a_small_model_gets_the_recipe_for_short_runs():
    plan = Plan.from_options(preset="medium", steps=1)
    assert (plan.settings.mask_rates, plan.settings.initialization) == ((0.40, 0.30), "neighbors")
    assert (plan.training.optimizer, plan.training.warmup, plan.training.betas) == ("muon", 0.06, (0.9, 0.98))


@pytest.mark.parametrize(
    ("given", "weight"),
    [
        ({}, 0.5),
        ({"preset": "mini"}, 0.5),
        ({"pair_weight": 2.0}, 2.0),
        ({"initialization": "matching"}, 1.0),
        ({"preset": "base"}, 1.0),
        ({"architecture": "albert"}, 1.0),
        ({"objective": "words"}, 1.0),
    ],
)
def test_the_weight_of_pairs_depends_on_the_start(given, weight, tmp_path):
    asked = Plan.from_options(steps=1, output=tmp_path, **given)
    assert asked.settings.pair_weight == weight
    asked.save()
    assert Plan.from_options(resume=tmp_path).settings.pair_weight == weight


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf")])
def test_pairs_that_count_nothing_are_refused(weight):
    with pytest.raises(UserError, match="pair_weight is"):
        PretrainingSettings(pair_weight=weight)


def test_a_weight_of_pairs_that_are_not_there_is_refused():
    with pytest.raises(UserError, match="pair_weight is given, and the objective 'words' has no pairs"):
        Plan.from_options(steps=1, objective="words", pair_weight=0.5)


@pytest.fixture
def gpu(monkeypatch):
    """A machine with a GPU, as far as a plan asks."""
    for module in ("pretraining.on_a_gpu", "training.settings"):
        monkeypatch.setattr(f"bertedu.{module}.choose_device", lambda wish: "cuda" if wish == "auto" else wish)
    for module in ("pretraining.on_a_gpu", "training.settings"):
        name = "has_compiler" if module.endswith("gpu") else "check_compiler"
        monkeypatch.setattr(f"bertedu.{module}.{name}", lambda device: True)
    monkeypatch.setattr("bertedu.training.settings.choose_precision", lambda wish, device: "bf16")
    monkeypatch.setattr("os.cpu_count", lambda: 16)


def test_on_a_gpu_layers_are_compiled_batches_larger_and_made_ahead(gpu, monkeypatch):
    plan = Plan.from_options()
    assert (plan.training.compile, plan.training.data_workers, plan.settings.batch_size) == (True, 4, 256)
    assert Plan.from_options(preset="mini").settings.batch_size == 256
    assert Plan.from_options(preset="small").settings == PretrainingSettings.for_preset("small")
    monkeypatch.setattr("bertedu.pretraining.on_a_gpu.has_compiler", lambda device: False)
    assert not Plan.from_options().training.compile


def test_what_is_said_goes_before_the_defaults_of_a_gpu(gpu, tmp_path):
    plan = Plan.from_options(compile=False, batch_size=8, data_workers=1, output=tmp_path)
    assert (plan.training.compile, plan.training.data_workers, plan.settings.batch_size) == (False, 1, 8)
    plan.save()
    again = Plan.from_options(resume=tmp_path)
    assert (again.training, again.settings) == (plan.training, plan.settings)
    for budget in ({"steps": 5}, {"tokens": 500}):  # such a run is the same anywhere
        assert Plan.from_options(**budget).settings == PretrainingSettings.for_preset("tiny")
    cpu = Plan.from_options(device="cpu")
    assert not cpu.training.compile and not cpu.training.data_workers
    assert cpu.settings == PretrainingSettings.for_preset("tiny")
