"""float16, checkpointing, compiling and FSDP: one process or two, each way to compute learns the same."""

import json

import pytest
import torch
from click.testing import CliRunner
from safetensors import safe_open
from safetensors.torch import save_file
from support.slow_cases import asked_for
from support.stopped_runs import assert_same, assert_same_end, figures, stop_at
from support.tiny_run import model_for, tiny_task, tiny_trainer
from support.torchrun import run_two_processes
from support.two_processes_engine import MODES, trainer_of

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.training.activation_memory import kept_bytes
from bertedu.training.devices import choose_precision
from bertedu.training.layers import check_compiler, layers_of, training_layers
from bertedu.training.metrics import read_metrics
from bertedu.training.operations import CountedOperations
from bertedu.training.optimization import OPTIMIZERS
from bertedu.training.resume import FILE
from bertedu.training.scaling import LossScaling

MEMBERS = ("bert", "roberta", "albert", "distilbert", "deberta", "deberta-v2", "xlnet", "electra", "modernbert")


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """What two processes made in every mode, straight on and resumed. Two that wait for each other would never end."""
    folder = tmp_path_factory.mktemp("modes")
    run_two_processes("two_processes_engine", folder, *asked_for(request, "mode"), timeout=1800)
    return folder


def plain(mode: str) -> bool:
    """Whether a mode computes in float32, where the same steps give the same numbers."""
    return MODES[mode][0].get("precision") != "fp16"


@pytest.mark.slow(cases=4)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("resumed", ["", " resumed"])
def test_two_processes_in_every_mode_of_the_engine_learn_what_one_learns(folder, tmp_path, mode, resumed):
    """The curves agree within 1e-4 and so do the weights. In float16 the order of adding up decides about one of 11
    bits, and Adam's first steps have their full size whatever the gradient's: there the curve alone is compared.
    """
    trainer_of(mode, tmp_path, 1).run()
    if plain(mode):
        assert_same(folder / f"{mode}{resumed}", tmp_path)
    found, expected = read_metrics(folder / f"{mode}{resumed}"), read_metrics(tmp_path)
    assert len(found) == len(expected) >= 12
    for line, right in zip(found, expected, strict=True):
        for name in (name for name in right if name.endswith("_loss")):
            assert line[name] == pytest.approx(right[name], abs=1e-4), (name, line["step"])


class Overflowing:
    """A task whose loss is so large that float16 has no number for its gradients."""

    def __init__(self):
        self.inner = tiny_task()

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def sums(self, model, batch):
        return {name: value * 1e30 for name, value in self.inner.sums(model, batch).items()}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_step_whose_gradients_overflow_is_taken_by_no_optimizer(tmp_path, optimizer):
    """The scale is halved, and neither Muon nor AdamW takes the step: clipping has made all gradients 0 or nan."""
    changes = {"steps": 2, "precision": "fp16", "optimizer": optimizer, "warmup": 0.0, "validations": 0}
    trainer = tiny_trainer(tmp_path, task=Overflowing(), **changes)
    before = {name: weight.clone() for name, weight in trainer.bare_model.named_parameters()}
    trainer.run()
    assert trainer.scaling.skipped == 2 and trainer.scaling.scaler.get_scale() == 2.0**14
    assert all(torch.equal(weight, before[name]) for name, weight in trainer.bare_model.named_parameters())
    assert not any(state for of in trainer.optimizers for state in of.state.values())
    again = tiny_trainer(tmp_path, task=Overflowing(), **changes)
    again.run(resume=True)
    assert again.scaling.state() == trainer.scaling.state()


def test_a_step_in_float16_asks_once_whether_its_gradients_are_finite(tmp_path):
    """Not once for each optimizer, as the scaler's own `step` does."""
    trainer = tiny_trainer(tmp_path, precision="fp16", optimizer="muon")
    portion = next(trainer._portions())
    trainer.model.train()
    with CountedOperations() as counted:
        trainer._step(portion, 0.5)
    assert counted.waits["_local_scalar_dense"] == 1


def test_a_run_whose_precision_is_auto_keeps_its_scale_where_there_is_none(tmp_path, monkeypatch):
    """Begun in float16 on a GPU without bf16, gone on with in float32 on a CPU, and in float16 again."""

    def run_as(precision: str, first: bool = False):
        monkeypatch.setattr("bertedu.training.loop.choose_precision", lambda wish, device: precision)
        trainer = tiny_trainer(tmp_path, precision="auto")
        trainer.run(resume=not first)
        return trainer.scaling.state()

    begun = run_as("fp16", first=True)
    assert begun == run_as("fp32") == run_as("fp16") and begun["growth_tracker"] > 0
    assert run_as("bf16", first=True) is None


@pytest.mark.parametrize("step", [1, 6])
@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_a_resumed_run_in_16_bits_keeps_its_scale(tmp_path, step, precision):
    """Bit for bit the same end, and the scale with it; a scale that grows after three steps is not the first one."""
    changes = {"precision": precision, "checkpointing": True}
    whole = tiny_trainer(tmp_path / "whole", **changes)
    whole.run()
    stop_at(tmp_path / "stopped", step, **changes)
    again = tiny_trainer(tmp_path / "stopped", **changes)
    again.run(resume=True)
    assert figures(tmp_path / "stopped") == figures(tmp_path / "whole")
    assert_same_end(tmp_path / "whole", tmp_path / "stopped")
    assert again.scaling.state() == whole.scaling.state()


def test_the_scale_of_a_stopped_run_goes_on(tmp_path):
    """Its scale, how long it has been kept and the steps left out are those at the stop."""
    one = LossScaling("cpu", True)
    one.load({"scale": 512.0, "growth_tracker": 7, "skipped": 3})
    weight = torch.nn.Parameter(torch.ones(1))
    one.scale(weight.sum()).backward()
    assert weight.grad == 512
    optimizer = torch.optim.SGD([weight], lr=1.0)
    one.step([optimizer], lambda: torch.nn.utils.clip_grad_norm_([weight], 1.0))
    assert weight.item() == pytest.approx(0, abs=1e-5)
    assert one.state() == {"scale": 512.0, "growth_tracker": 8, "skipped": 3}


@pytest.mark.parametrize(
    "scaling",
    [
        None,
        {"scale": 0.0, "growth_tracker": 0, "skipped": 0},
        {"scale": 1e300, "growth_tracker": 0, "skipped": 0},
        {"scale": 1.0, "growth_tracker": 0, "skipped": 99},
        {"scale": 1.0, "growth_tracker": 0},
    ],
)
def test_a_damaged_loss_scale_is_refused(tmp_path, scaling):
    tiny_trainer(tmp_path, precision="fp16").run()
    path = tmp_path / FILE
    with safe_open(path, framework="pt") as file:
        about, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    run = {**json.loads(about["run"]), "scaling": scaling}
    save_file(tensors, path, {**about, "run": json.dumps(run)})
    with pytest.raises(UserError, match="the file is damaged, or not of this run"):
        tiny_trainer(tmp_path, precision="fp16").run(resume=True)


@pytest.mark.parametrize("member", MEMBERS)
def test_checkpointing_gives_the_same_gradients_and_saves_memory(member):
    """The same loss and gradients within 1e-6, with dropout, which the second computation must repeat."""
    found, kept = [], []
    task = tiny_task(architecture=member)
    model = model_for(task, 0.1, seed=0)
    batch = task.prepare(task.epoch(0)[0], 0, 0.0)
    for checkpointing in (False, True):
        model.train().zero_grad()
        with training_layers(model, compiled=False, checkpointing=checkpointing):
            kept.append(kept_bytes(model, lambda: task.sums(model, batch)))
            torch.manual_seed(0)
            losses = [value for name, value in task.sums(model, batch).items() if name.endswith("_loss")]
            sum(losses).backward()
        gradients = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
        found.append({"loss": sum(losses).detach(), **gradients})
    assert found[0].keys() == found[1].keys() and len(found[0]) > 10
    for name, right in found[0].items():
        assert torch.allclose(found[1][name], right, atol=1e-6, rtol=1e-6), name
    assert kept[1] < 0.8 * kept[0], kept


@pytest.mark.parametrize("member", MEMBERS)
def test_the_engine_finds_the_layers_of_every_member(member):
    """Every weight that lies in a layer, by the model's own account, is in one of those that are found."""
    task = tiny_task(architecture=member)
    model = model_for(task, 0.1, seed=0)
    found = {weight for layer in layers_of(model) for weight in layer.parameters()}
    outside = {"encoder.relative.weight", "encoder.relative_norm", "mapping_in", "final_norm"}
    for name, weight in model.named_parameters():
        inside = (1 <= model.depth(name) <= model.config.num_hidden_layers and "layers." in name) or "groups." in name
        assert inside == (weight in found) or any(part in name for part in outside), name


@pytest.mark.slow
def test_compiling_changes_neither_the_numbers_nor_the_names_of_the_weights(tmp_path, monkeypatch):
    """Traced and cut into graphs as with the real compiler, by a backend that needs none."""
    compiled, real = [], torch.compile

    def count(function, **options):
        compiled.append(function)
        return real(function, backend="aot_eager", **options)

    monkeypatch.setattr(torch, "compile", count)
    monkeypatch.setattr("bertedu.training.loop.check_compiler", lambda device: None)
    tiny_trainer(tmp_path / "plain", dropout=0.0).run()
    trainer = tiny_trainer(tmp_path / "compiled", dropout=0.0, compile=True, checkpointing=True)
    trainer.run()
    assert_same(tmp_path / "compiled", tmp_path / "plain")
    assert len(compiled) == 1 and not any("forward" in layer.__dict__ for layer in layers_of(trainer.bare_model))


def test_a_machine_without_a_compiler_is_found_out_before_the_first_step(monkeypatch):
    def broken(function):
        raise RuntimeError("no working C++ compiler found\nand a long story")

    monkeypatch.setattr(torch, "compile", broken)
    check_compiler.cache_clear()
    with pytest.raises(UserError, match=r"--compile finds no compiler .*no working C\+\+ compiler found\): install"):
        check_compiler("cpu")
    check_compiler.cache_clear()


def test_fp16_is_refused_on_a_device_that_has_none():
    assert choose_precision("fp16", "cuda") == choose_precision("fp16", "cpu") == "fp16"
    with pytest.raises(UserError, match=r"fp16 is for cuda, .* not for mps: choose --precision auto"):
        choose_precision("fp16", "mps")


def test_fsdp_with_one_process_is_refused(tmp_path):
    with pytest.raises(UserError, match="--fsdp shares a model among processes, and there is one: start several"):
        tiny_trainer(tmp_path, fsdp=True)


@pytest.mark.parametrize("name", ["compile", "checkpointing", "fsdp"])
def test_a_switch_of_the_engine_takes_true_or_false_alone(tmp_path, name):
    with pytest.raises(UserError, match=f"{name} is 'no': give true or false"):
        tiny_trainer(tmp_path, **{name: "no"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"precision": "fp16"}, "precision was 'fp32', is now 'fp16'"),
        ({"checkpointing": True}, "checkpointing was false, is now true|checkpointing was False, is now True"),
    ],
)
def test_a_run_does_not_go_on_in_another_mode_of_the_engine(tmp_path, changes, message):
    tiny_trainer(tmp_path).run()
    with pytest.raises(UserError, match=message):
        tiny_trainer(tmp_path, **changes).run(resume=True)


@pytest.mark.parametrize("command", ["pretrain", "finetune"])
def test_every_setting_of_the_engine_has_an_option(command):
    said = CliRunner().invoke(main, [command, "--help"]).output
    assert "fp32|bf16|fp16" in said and all(option in said for option in ("--compile", "--checkpointing", "--fsdp"))
