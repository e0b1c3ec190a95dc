"""A crafted or damaged resume.safetensors is refused by name, before anything is written or computed with."""

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from support.tiny_run import tiny_trainer

from bertedu.errors import UserError
from bertedu.training.resume import FILE

WEIGHT = "bert.encoder.layers.0.attention.output.weight"
EMBEDDINGS = "bert.embeddings.token.weight"


@pytest.fixture(scope="module", params=["adamw", "muon"])
def ended(request, tmp_path_factory) -> tuple[str, Path]:
    """The optimizer, and the folder of a run of it."""
    folder = tmp_path_factory.mktemp("run")
    tiny_trainer(folder, optimizer=request.param, log_steps=5).run()
    return request.param, folder


def read(folder: Path) -> tuple[dict[str, torch.Tensor], dict, dict]:
    """The tensors of a state, what it says of the run, and its identity."""
    with safe_open(folder / FILE, framework="pt") as file:
        about = file.metadata()
    return load_file(folder / FILE), json.loads(about["run"]), json.loads(about["identity"])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(ended, tmp_path, tensors: dict, run: object, identity: object) -> str:
    """What is said of such a state; nothing in the folder may change."""
    optimizer, whole = ended
    for name in ("metrics.jsonl", "checkpoint/model.safetensors"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    about = {"run": run, "identity": identity}
    save_file(tensors, tmp_path / FILE, {k: v if isinstance(v, str) else json.dumps(v) for k, v in about.items()})
    before = contents(tmp_path)
    trainer = tiny_trainer(tmp_path, optimizer=optimizer, log_steps=5)
    weights = [parameter.detach().clone() for parameter in trainer.bare_model.parameters()]
    with pytest.raises(UserError) as refusal:
        trainer.run(resume=True)
    assert contents(tmp_path) == before, "something was written"
    assert all(map(torch.equal, weights, trainer.bare_model.parameters())), "the model has changed"
    assert str(tmp_path / FILE) in str(refusal.value) and "\n" not in str(refusal.value)
    return str(refusal.value)


def cut(tensors, name):
    tensors[name] = tensors[name][:1].clone()


def lose(tensors, name):
    del tensors[name]


def halve(tensors, name):
    tensors[name] = tensors[name].half()


def poison(tensors, name):
    tensors[name].view(-1)[-1] = float("nan")


def turn(tensors, name):
    tensors[name] = tensors[name].T.reshape(-1, tensors[name].shape[0] * 2).contiguous()


@pytest.mark.parametrize("damage", [cut, lose, halve, poison, turn])
@pytest.mark.parametrize("part", ["model", "momentum_buffer", "exp_avg", "exp_avg_sq"])
def test_a_crafted_tensor_is_refused(ended, tmp_path, damage, part):
    tensors, run, identity = read(ended[1])
    name = f"{part}.{EMBEDDINGS if part.startswith('exp') else WEIGHT}"
    if name not in tensors:
        pytest.skip("Adam has no momentum")
    damage(tensors, name)
    assert name in refused(ended, tmp_path, tensors, run, identity)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (f"step.{EMBEDDINGS}", torch.tensor(-1.0), "holds numbers that are not finite, or negative"),
        (f"step.{EMBEDDINGS}", torch.tensor(13.0), "another number of steps than 12"),
        (f"step.{EMBEDDINGS}", torch.tensor(0.5), "another number of steps than 12"),
        (f"exp_avg_sq.{EMBEDDINGS}", torch.full((53, 16), -1.0), "holds numbers that are not finite, or negative"),
        (f"momentum_buffer.{EMBEDDINGS}", torch.zeros(53, 16), "is not known here"),
        ("model.classifier.weight", torch.zeros(2, 16), "'model.classifier.weight' is not known here"),
        ("recent.mlm_loss", torch.tensor([float("inf")]), "its sum of 'mlm_loss' is not made of finite numbers"),
        ("recent.mlm_loss", torch.zeros(1, 1), "its sum of 'mlm_loss' is not made of finite numbers"),
        ("recent.other_loss", torch.zeros(1), "its counts since the last line of the log are not those of its sums"),
    ],
)
def test_a_number_out_of_range_is_refused(ended, tmp_path, name, value, message):
    tensors, run, identity = read(ended[1])
    tensors[name] = value
    assert message in refused(ended, tmp_path, tensors, run, identity)


def test_the_state_of_a_weight_may_not_be_missing(ended, tmp_path):
    """Adam would begin anew at step 12, without a word."""
    tensors, run, identity = read(ended[1])
    tensors = {name: tensor for name, tensor in tensors.items() if name.startswith(("model.", "recent."))}
    run["untouched"] = [name.removeprefix("model.") for name in tensors if name.startswith("model.")]
    assert "none of its weights has been trained" in refused(ended, tmp_path, tensors, run, identity)


PROGRESS = {
    "step": [-5, 10**9, 13, True, 1.5, None, "12", float("nan")],
    "tokens": [-1, 3, 2**60],
    "seconds": [-0.1, float("inf"), float("nan"), "1", 10**400],
    "epoch": [-1, 13, [0]],
    "batch": [-1, 10**6, {}],
    "waited": [-1, 13],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in PROGRESS.items() for value in values])
def test_a_run_does_not_go_on_from_a_place_where_it_never_was(ended, tmp_path, name, value):
    tensors, run, identity = read(ended[1])
    run["progress"][name] = value
    said = refused(ended, tmp_path, tensors, run, identity)
    assert name in said or "not a number in JSON" in said or "digits" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"best": "high"}, "its best figure is 'high'"),
        ({"best": True}, "its best figure is True"),
        ({"counts": None}, "its counts since"),
        ({"counts": {"mlm": -1, "nsp": 1}}, "its count of 'mlm' is -1"),
        ({"since": [0]}, "it does not say when"),
        ({"since": [10**9, 0.0]}, "tokens at the last line of the log is 1000000000"),
        ({"untouched": None}, "which weights have not been trained"),
        ({"untouched": [[]]}, "which weights have not been trained"),
        ({"untouched": ["no such weight"]}, "which weights have not been trained"),
        ({"progress": None}, "its progress does not hold step"),
        ({"progress": {"step": 1, "colour": 2}}, "its progress does not hold step"),
    ],
)
def test_what_a_state_says_of_its_run_is_checked(ended, tmp_path, change, message):
    tensors, run, identity = read(ended[1])
    assert message in refused(ended, tmp_path, tensors, {**run, **change}, identity)


def test_a_setting_of_another_run_is_cut_in_the_message(ended, tmp_path):
    tensors, run, identity = read(ended[1])
    said = refused(ended, tmp_path, tensors, run, {**identity, "steps": "x" * 3000, "y" * 3000: 1})
    assert "is of another run (steps was 'xxx" in said and len(said) < 500


@pytest.mark.parametrize("text", ["[]", "null", "{", "[" * 100_000, '{"step": ' + "9" * 6000 + "}", "", "\ud7ff"])
@pytest.mark.parametrize("entry", ["run", "identity"])
def test_metadata_that_are_no_object_are_refused_in_words(ended, tmp_path, entry, text):
    tensors, run, identity = read(ended[1])
    refused(ended, tmp_path, tensors, **{"run": run, "identity": identity, entry: text})


def test_a_folder_in_the_place_of_a_state_is_refused_in_words(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(UserError, match=FILE):
        tiny_trainer(tmp_path).run(resume=True)
