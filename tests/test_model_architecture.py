"""The record of a member of the family: how its weights and its config are called on disk, and what heads ask it."""

import sys
from dataclasses import dataclass, replace
from types import ModuleType
from typing import ClassVar

import pytest
import torch
from safetensors.torch import load_file

from bertedu import BertConfig, BertModel, UserError
from bertedu.checkpoints.names import BERT
from bertedu.config import EncoderConfig, TaskConfig
from bertedu.files import read_json
from bertedu.finetuning.classification import TextClassifier
from bertedu.model import architecture
from bertedu.model.heads import ARCHITECTURE, BertForMaskedLM, MaskedLM
from bertedu.registry import ARCHITECTURES


@dataclass(frozen=True)
class OtherConfig(BertConfig):
    """A member whose config.json calls the hidden size `dim`, as DistilBERT's does."""

    model_type: ClassVar[str] = "other"
    names_on_disk: ClassVar[dict[str, str]] = {"hidden_size": "dim"}


class OtherModel(BertModel):
    """BERT's layers under another name."""


@pytest.fixture
def other(monkeypatch):
    """A member that is registered for one test."""
    names = replace(
        BERT,
        prefix="other",
        rows=(("embeddings.token.", "embeddings.table."), *BERT.rows),
        heads={"ForSequenceClassification": (("classifier.", "classifier.out_proj."),)},
    )
    module = ModuleType("other_member")
    module.ARCHITECTURE = replace(  # type: ignore[attr-defined]
        ARCHITECTURE,
        name="Other",
        config=OtherConfig,
        encoder=OtherModel,
        names=names,
        class_names={"ForMaskedLM": "OtherLMHeadModel"},
    )
    monkeypatch.setitem(sys.modules, "other_member", module)
    monkeypatch.setitem(ARCHITECTURES.places, "other", "other_member")


def test_a_member_is_imported_when_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(ARCHITECTURES.places, "absent", "a_module_that_is_not_there")
    assert architecture.architecture("bert") is ARCHITECTURE
    with pytest.raises(ModuleNotFoundError):
        architecture.architecture("absent")


def test_an_unknown_member_is_refused(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(UserError, match=r"config\.json: model_type is 'gpt2', and only 'bert', .* can be read here"):
        architecture.architecture_in(tmp_path)
    with pytest.raises(UserError, match="no model_type 'gpt2': choose one of bert"):
        architecture.architecture("gpt2")
    (tmp_path / "config.json").write_text("{}")
    assert architecture.architecture_in(tmp_path) is ARCHITECTURE


def test_a_head_takes_the_names_of_its_member(other, tmp_path):
    """Its own names on disk, in config.json and of its weights, and the way back."""
    config = OtherConfig(30, 16, 2, 2, 32, max_position_embeddings=8)
    model = TextClassifier.from_config(config, TaskConfig(("a", "b"), pooling="cls")).eval()
    model.save_pretrained(tmp_path)
    names = load_file(tmp_path / "model.safetensors").keys()
    assert "other.embeddings.table.weight" in names and "classifier.out_proj.weight" in names
    assert "other.encoder.layer.1.output.dense.bias" in names and not any("bert" in name for name in names)
    written = read_json(tmp_path / "config.json")
    assert written["architectures"] == ["OtherForSequenceClassification"] and written["dim"] == 16
    assert "hidden_size" not in written
    back = TextClassifier.from_pretrained(tmp_path)
    assert isinstance(back.encoder, OtherModel) and back.config == config
    ids = torch.randint(5, 30, (2, 6))
    assert torch.equal(back(ids).logits, model(ids).logits)


def test_a_class_name_that_breaks_the_pattern_is_kept(other, tmp_path):
    MaskedLM(OtherConfig(30, 16, 2, 2, 32)).save_pretrained(tmp_path)
    assert read_json(tmp_path / "config.json")["architectures"] == ["OtherLMHeadModel"]
    names = architecture.class_names("ForMaskedLM")
    assert names[0] == "BertForMaskedLM" and names[-1] == "OtherLMHeadModel"


def test_a_tied_weight_has_to_be_declared(other, tmp_path, monkeypatch):
    """The second name of a weight must be said: which of both is written is no accident of an order."""
    model = BertForMaskedLM(BertConfig(30, 16, 2, 2, 32))
    model.save_pretrained(tmp_path / "whole")
    assert "cls.predictions.decoder.weight" not in load_file(tmp_path / "whole" / "model.safetensors")
    monkeypatch.setitem(sys.modules, "forgetful", ModuleType("forgetful"))
    sys.modules["forgetful"].ARCHITECTURE = replace(ARCHITECTURE, names=replace(BERT, tied=()))  # type: ignore
    monkeypatch.setitem(ARCHITECTURES.places, "bert", "forgetful")
    with pytest.raises(RuntimeError, match="share memory"):
        model.save_pretrained(tmp_path / "forgetful")


def test_a_field_of_bert_alone_is_not_asked_of_every_member():
    assert not hasattr(EncoderConfig(), "type_vocab_size") and not hasattr(BertConfig(), "labels")


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_a_model_for_texts_of_a_few_tokens_computes_numbers(model_type):
    member = architecture.architecture(model_type)
    for tokens in range(1, 10):
        config = member.config.for_texts("tiny", tokens, vocab_size=50, pad_token_id=0)
        ids = torch.randint(5, 50, (2, tokens))
        model = member.encoder(config).eval()
        assert config.max_tokens >= tokens and bool(torch.isfinite(model(ids).last_hidden_state).all()), tokens
    with pytest.raises(UserError, match="max_position_embeddings"):
        member.config.for_texts("tiny", 0, vocab_size=50, pad_token_id=0)
