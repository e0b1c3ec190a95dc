"""Weights and folders as JavaScript reads them: every type of number, and one sentence for what is no BERT."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save
from support.web_questions import CHECKPOINTS, ask_node

from bertedu import BertConfig, BertForPreTraining, BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

REFUSALS = Path(__file__).parent / "support" / "web_refusals.js"
VOCABULARY = [*SPECIAL_TOKENS, *"abc"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A very small BERT."""
    folder = tmp_path_factory.mktemp("small")
    BertForPreTraining(BertConfig(8, 4, 1, 2, 8, max_position_embeddings=6)).save_pretrained(folder)
    BertTokenizer(VOCABULARY).save_pretrained(folder)
    return folder


def ask(folder: Path, question: str, rows: list) -> list:
    return json.loads(ask_node(folder, question, rows, REFUSALS))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_numbers_of_every_type_are_read(dtype, folder):
    special = torch.tensor([0.0, -0.0, 1.0, -1.5, 6e-8, 6.1e-5, 65504.0, 1e-30, float("inf"), -float("inf")])
    wide = torch.randn(22, generator=torch.Generator().manual_seed(0)) * 100
    tensors = {"all": torch.cat([special, wide]).to(dtype).reshape(4, 8), "ids": torch.arange(3)}
    ((found,),) = ask(folder, "numbersOf", [list(save(tensors))])
    name, shape, numbers = found
    assert (name, shape) == ("all", [4, 8])  # ids have no fraction: they are left out
    assert [np.float32(number) for number in numbers] == tensors["all"].float().flatten().tolist()


def test_every_pattern_of_a_float16_is_read(folder):
    patterns = np.arange(65536, dtype=np.uint16).view(np.float16)
    weights = save({"all": torch.from_numpy(patterns.copy())})
    ((_, _, numbers),) = ask(folder, "numbersOf", [list(weights)])[0]
    np.testing.assert_array_equal(np.array(numbers, np.float32), patterns.astype(np.float32))


def changed(folder: Path, **values) -> dict:
    return {"config": json.dumps({**json.loads((folder / "config.json").read_text()), **values})}


def tokenizer_json(**model) -> dict:
    parts = {"model": {"type": "WordPiece", **model}, "normalizer": {"type": "BertNormalizer"}}
    return {"vocabulary": None, "tokenizer": json.dumps(parts)}


def test_a_folder_that_is_no_bert_gets_one_sentence(folder):
    weights = (folder / "model.safetensors").read_bytes()
    header = json.dumps({"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}).encode()
    rows = {
        "of the type “roberta”": changed(folder, model_type="roberta"),
        "config.json is not the JSON": {"config": "{"},
        "config.json is not the JSON of": {"config": "null"},
        "hidden_size is -4": changed(folder, hidden_size=-4),
        "num_hidden_layers is not given": {"config": '{"model_type": "bert", "vocab_size": 8, "hidden_size": 4}'},
        "3 heads cannot share": changed(folder, num_attention_heads=3),
        'hidden_act is "relu"': changed(folder, hidden_act="relu"),
        "layer_norm_eps must be": changed(folder, layer_norm_eps="small"),
        "relative positions": changed(folder, position_embedding_type="relative_key"),
        "in the shape [8, 4], and config.json asks for [16, 4]": changed(folder, intermediate_size=16),
        "lack encoder.layer.1": changed(folder, num_hidden_layers=2),
        "The tokenizer has 9 tokens and the model knows 8": {"vocabulary": "\n".join([*VOCABULARY, "d"])},
        "the token “a” twice": {"vocabulary": "\n".join([*VOCABULARY[:-1], "a"])},
        "lacks [PAD], [UNK]": {"vocabulary": "a\nb\n"},
        "tokenizer_config.json is not": {"settings": "1"},
        'tokens of its own, such as "<x>"': {
            "settings": json.dumps({"added_tokens_decoder": {"9": {"content": "<x>"}}})
        },
        "no vocab.txt": {"vocabulary": None, "tokenizer": None},
        'of the kind "BPE"': tokenizer_json(type="BPE"),
        "not 0, 1, 2": tokenizer_json(vocab={token: 2 * number for number, token in enumerate(VOCABULARY)}),
        "not in the format safetensors": {"weights": list(b"no")},
        "not in the format safetensors: choose": {"weights": list(b"x" * 100)},
        "is cut off": {"weights": list(weights[:-1])},
        "damaged at the tensor a": {"weights": list(struct.pack("<Q", len(header)) + header + bytes(32))},
        "holds no numbers": {"weights": list(save({"ids": torch.arange(3)}))},
    }
    for said, told in zip(rows, ask(folder, "refusedFiles", list(rows.values())), strict=True):
        assert said in told and told.endswith(".") and "\n" not in told, f"{said}: {told!r}"


def test_a_tokenizer_json_of_a_bert_is_read(folder):
    whole = tokenizer_json(vocab={token: number for number, token in enumerate(VOCABULARY)})
    assert ask(folder, "refusedFiles", [whole, {}]) == ["", ""]


def test_what_a_model_cannot_read_gets_one_sentence(folder):
    rows = {
        "no token to read": {"ids": []},
        "7 tokens, the model 6 positions": {"ids": [0] * 7},
        "3000 tokens": {"ids": [0] * 3000},
        "no token with the id 8": {"ids": [8]},
        "no token with the id -1": {"ids": [-1]},
        "no segment 2": {"ids": [1], "types": [2]},
        "no position 6": {"ids": [1], "changes": {"positions": [6]}},
        "Every token is hidden": {"ids": [1, 2], "changes": {"hidden": [0, 1]}},
    }
    for said, told in zip(rows, ask(folder, "refusedRows", list(rows.values())), strict=True):
        assert said in told, f"{said}: {told!r}"


def test_weights_under_the_names_of_older_checkpoints_are_read(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    tensors = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(folder / "model.safetensors").items()
    }
    save_file(tensors, tmp_path / "model.safetensors")
    assert ask(tmp_path, "refusedFiles", [{}]) == [""]


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_the_checkpoints_of_the_course_are_opened(name):
    assert ask(CHECKPOINTS[name], "refusedFiles", [{}]) == [""]
