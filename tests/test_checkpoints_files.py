"""Checkpoints as files: damaged, missing, dangerous, on a full disk, and where they come from."""

import json
import os
from contextlib import contextmanager
from pathlib import Path

import huggingface_hub
import pytest
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from support.random_models import assert_same_weights, load_quietly, random_model

from bertedu import BertConfig, BertForPreTraining, BertModel, UserError
from bertedu.checkpoints.folder import save_tensors
from bertedu.checkpoints.weights import read_tensors
from bertedu.inference import open_model
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS


@pytest.mark.parametrize("length", [0, 5, 200, -1])
def test_damaged_weights_are_refused_in_words(saved, length):
    path = saved / "model.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(UserError, match=r"model.safetensors is damaged or cut short \(.*\): copy or save"):
        BertForPreTraining.from_pretrained(saved)


def test_a_missing_folder_or_file_is_refused_in_words(saved, tmp_path):
    with pytest.raises(UserError, match="does not exist: give a saved model's folder, or a hub id"):
        BertModel.from_pretrained(tmp_path / "nothing")
    (saved / "model.safetensors").rename(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=r"holds no model.safetensors: give the folder"):
        BertModel.from_pretrained(saved)
    (saved / "config.json").unlink()
    with pytest.raises(UserError, match=r"holds no config.json: give the folder"):
        BertModel.from_pretrained(saved)
    with pytest.raises(UserError, match=r"is missing"):
        read_tensors(saved / "model.safetensors")


def test_a_damaged_config_is_refused_in_words(saved):
    (saved / "config.json").write_text('{"hidden_size": 16,')
    with pytest.raises(UserError, match=r"config.json, line 1, column \d+: not valid JSON"):
        BertModel.from_pretrained(saved)


def test_another_kind_of_model_is_refused(saved):
    (saved / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    with pytest.raises(UserError, match=r"model_type is 'gpt2', and only 'bert', .* can be read here"):
        BertModel.from_pretrained(saved)


class Program:
    """What unpickling runs."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def test_a_pickle_is_never_opened(saved, tmp_path):
    (saved / "model.safetensors").unlink()
    torch.save({"weight": Program(tmp_path / "the program ran")}, saved / "pytorch_model.bin")
    with pytest.raises(
        UserError, match=r"pytorch_model.bin \(a pickle.*never unpickled here: .*transformers.*save_pretrained\)"
    ):
        BertModel.from_pretrained(saved)
    assert not (tmp_path / "the program ran").exists()


def test_a_pickled_checkpoint_opens_after_the_advised_conversion(saved, tmp_path):
    torch.save(load_file(saved / "model.safetensors"), saved / "pytorch_model.bin")
    (saved / "model.safetensors").unlink()
    transformers.AutoModelForPreTraining.from_pretrained(saved).save_pretrained(tmp_path / "converted")
    assert_same_weights(load_quietly(BertForPreTraining, tmp_path / "converted"), random_model())


# Saving


@pytest.fixture
def full_disk():
    """No file may grow beyond 20,000 bytes while the block runs, as on a disk with that much left."""
    resource = pytest.importorskip("resource", reason="Windows has no limit for the size of a file")
    old_limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    @contextmanager
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, old_limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old_limits)

    return limited


def test_a_full_disk_leaves_the_old_checkpoint(saved, full_disk):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    model = BertForPreTraining(BertConfig(3000, 64, 2, 2, 64))
    with full_disk(), pytest.raises(UserError) as raised:
        model.save_pretrained(saved)
    message = str(raised.value)
    assert message.startswith(f"{saved / 'model.safetensors'} could not be written (")
    assert "free some space" in message and "\n" not in message
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_new_weights_never_stay_beside_the_old_config(saved, monkeypatch):
    """When config.json cannot be written, the weights of before stay."""
    before = {path.name: path.read_bytes() for path in saved.iterdir()}

    def fail(*_, **__):
        raise UserError("config.json could not be written")

    monkeypatch.setattr(BertConfig, "save", fail)
    with pytest.raises(UserError, match="could not be written"):
        BertForPreTraining(BertConfig(40, 8, 1, 1, 8)).save_pretrained(saved)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_saving_over_another_size_leaves_nothing_of_it(saved):
    model = random_model(BertModel, BertConfig(40, 8, 1, 1, 8))
    model.save_pretrained(saved)
    assert_same_weights(load_quietly(BertModel, saved), model)
    assert sorted(path.name for path in saved.iterdir()) == ["config.json", "model.safetensors"]


def test_a_file_says_that_its_tensors_are_of_pytorch(saved):
    """Some releases of transformers refuse a file without this note."""
    with safe_open(saved / "model.safetensors", framework="pt") as file:
        assert file.metadata() == {"format": "pt"}


def test_a_transposed_tensor_is_saved_in_its_own_order(tmp_path):
    tensor = torch.arange(6.0).view(2, 3).T.requires_grad_()
    save_tensors(tmp_path / "x.safetensors", {"x": tensor}, {})
    assert torch.equal(read_tensors(tmp_path / "x.safetensors")["x"], tensor.detach())


# Where a model comes from


def test_a_run_folder_is_searched_for_its_checkpoint(saved):
    saved.rename(saved.parent / "checkpoint")
    assert_same_weights(load_quietly(BertForPreTraining, saved.parent), random_model())


def test_a_hub_id_in_the_cache_opens_without_a_network(saved, monkeypatch, tmp_path):
    """A cache as the hub library lays it out: what was fetched once opens without a network."""
    snapshot = tmp_path / "hub" / "models--someone--small-bert" / "snapshots" / "0123abcd"
    snapshot.parent.mkdir(parents=True)
    saved.rename(snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("0123abcd")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    assert_same_weights(load_quietly(BertForPreTraining, "someone/small-bert"), random_model())
    with pytest.raises(
        UserError, match=r"someone/other is neither a folder nor a model .*check the name and the network"
    ):
        BertModel.from_pretrained("someone/other")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such permissions")
def test_others_can_read_a_saved_model(tmp_path):
    BertModel(BertConfig.preset("tiny", vocab_size=20)).save_pretrained(tmp_path)
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == 0o644


# Weights that are none


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("infinite", lambda tensor: tensor.fill_(float("inf")), r"holds infinite numbers or NaN"),
        ("NaN", lambda tensor: tensor.fill_(float("nan")), r"holds infinite numbers or NaN"),
        ("too large for float32", lambda tensor: tensor.double().fill_(1e300), r"holds infinite numbers"),
        ("integers", lambda tensor: tensor.long(), "is of the type int64: weights are float32"),
        ("booleans", lambda tensor: tensor.bool(), "is of the type bool"),
        ("complex", lambda tensor: tensor.to(torch.complex64), "is of the type complex64"),
        ("float8", lambda tensor: tensor.to(torch.float8_e4m3fn), "is of the type float8_e4m3fn"),
    ],
)
def test_weights_of_a_strange_type_are_refused(saved, name, change, says):
    path, weight = saved / "model.safetensors", "bert.encoder.layer.0.output.dense.weight"
    tensors = load_file(path)
    save_file({**tensors, weight: change(tensors[weight].clone())}, path, {"format": "pt"})
    with pytest.raises(UserError, match=rf"model\.safetensors: {weight} {says}"):
        BertForPreTraining.from_pretrained(saved)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bert.embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.gamma"),
        ("bert.pooler.dense.weight", "pooler.dense.weight"),
    ],
)
def test_a_weight_that_is_there_twice_is_refused(saved, old, new):
    path = saved / "model.safetensors"
    tensors = load_file(path)
    save_file({**tensors, new: tensors[old] + 1}, path, {"format": "pt"})
    with pytest.raises(UserError, match=r"(\S+) and (\S+) are two names of one weight and differ: remove one"):
        BertForPreTraining.from_pretrained(saved)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("num_hidden_layers", 10**7, "num_hidden_layers is 10000000: give at most 1,000"),
        ("vocab_size", 10**30, "vocab_size is 1000000000000000000000000000000: give at most 10,000,000"),
        ("vocab_size", 9_999_999, "the weights are not of the same model"),
        ("intermediate_size", 999_999, "the weights are not of the same model"),
        ("num_hidden_layers", True, "num_hidden_layers is True: give a whole number or null"),
        ("hidden_dropout_prob", "0.1", "hidden_dropout_prob is '0.1': give a number or null"),
        ("architectures", "BertModel", "give a list of a text or null"),
        ("id2label", {"one": "yes"}, "id2label has .*: number the classes 0, 1, 2"),
        ("id2label", {"0": 7}, "id2label is .*: give an object with a text under each name"),
        ("id2label", ["yes"], "id2label is"),
        ("layer_norm_eps", [[[]]], "layer_norm_eps is"),
    ],
)
def test_a_config_of_the_wrong_type_or_size_is_refused_in_words(saved, field, value, says):
    values = json.loads((saved / "config.json").read_text())
    (saved / "config.json").write_text(json.dumps({**values, field: value}))
    BertTokenizer([*SPECIAL_TOKENS, "a"]).save_pretrained(saved)
    with pytest.raises(UserError, match=says):
        open_model(saved)
