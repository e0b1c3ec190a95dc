"""What holds for every member of the family: whoever adds one to MEMBERS hears here what was forgotten."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from support.members import LAYERS, SIZES
from torch import nn

from bertedu.cli import main
from bertedu.family import MEMBERS
from bertedu.model.architecture import architecture
from bertedu.model.pretrained import PretrainedModel
from bertedu.pretraining.members import objectives_of
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.registry import ARCHITECTURES, OBJECTIVES

# Weights that change the first vectors and count as part of a layer; the member says why.
COUNTED_HIGHER = ("encoder.mapping_in.",)
every_member = pytest.mark.parametrize("model_type", MEMBERS)


def small_encoder(model_type: str) -> PretrainedModel:
    """Three narrow layers in evaluation mode, with weights large enough that each of them matters."""
    member = architecture(model_type)
    torch.manual_seed(0)
    sizes = {
        "vocab_size": 30,
        "hidden_size": 8,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "intermediate_size": 12,
        "max_position_embeddings": 10,
    }
    encoder = member.encoder(member.config(**{**sizes, **SIZES.get(model_type, {})}))
    for parameter in encoder.parameters():
        nn.init.normal_(parameter)
    return encoder.eval()


def vectors(encoder: PretrainedModel) -> list[torch.Tensor]:
    """What the encoder computes on the way: the embeddings, each layer, the pooler where there is one."""
    ids = torch.arange(1, 11)[None]
    output = encoder(ids, token_type_ids=(ids > 5).long(), output_hidden_states=True)
    pooled = [] if output.pooler_output is None else [output.pooler_output]
    return [*output.hidden_states, *pooled]


@every_member
@torch.no_grad()
def test_every_weight_lies_as_deep_as_depth_says(model_type):
    """A weight of depth k changes what comes out at k, and nothing before. Freezing and rates by layer go by it."""
    encoder = small_encoder(model_type)
    before = vectors(encoder)
    for name, parameter in encoder.named_parameters():
        kept = parameter.clone()
        parameter.add_(torch.randn_like(parameter))
        changed = [not torch.equal(old, new) for old, new in zip(before, vectors(encoder), strict=True)]
        parameter.copy_(kept)
        first = changed.index(True) if any(changed) else None
        # The bias of a key adds the same to every score, so softmax takes it away but for rounding. XLNet's query
        # stream is there only where words are predicted.
        without = name.endswith(("key.bias", "mask_embedding"))
        assert first == encoder.depth(name) or without or name.startswith(COUNTED_HIGHER), name


@every_member
def test_every_weight_has_a_name_of_its_own_on_disk_and_comes_back(model_type):
    encoder, names = small_encoder(model_type), architecture(model_type).names
    ours = [name for name in encoder.state_dict() if not names.is_tied(name)]
    theirs = [names.to_transformers(name) for name in ours]
    assert len(set(theirs)) == len(ours)
    assert [names.places(name)[0] for name in theirs] == ours
    assert not any(map(names.is_dropped, theirs))


@every_member
@torch.no_grad()
def test_a_saved_encoder_computes_the_same(model_type, tmp_path):
    encoder = small_encoder(model_type)
    encoder.save_pretrained(tmp_path)
    again = type(encoder).from_pretrained(tmp_path)
    for old, new in zip(vectors(encoder), vectors(again), strict=True):
        assert torch.equal(old, new)


@every_member
@torch.no_grad()
def test_padding_is_not_read_as_text(model_type):
    encoder = small_encoder(model_type)
    ids, mask = torch.arange(1, 11)[None], torch.tensor([[1] * 6 + [0] * 4])
    other = torch.where(mask.bool(), ids, 29)
    first, second = (encoder(given, mask).last_hidden_state[:, :6] for given in (ids, other))
    torch.testing.assert_close(first, second)


@every_member
def test_cls_is_where_the_tokenizer_says(model_type):
    """The vector of [CLS] is found by the tokenizer's cls_at_end, and sequences are laid out by its layout."""
    tokenizer = architecture(model_type).tokenizer.train(["the cat sat on the mat"] * 3, vocab_size=300)
    ids = tokenizer("the cat", "the mat").input_ids[0].tolist()
    assert ids.index(tokenizer.cls_token_id) == (len(ids) - 1 if tokenizer.cls_at_end else 0)


@every_member
def test_every_member_is_in_the_help_and_on_the_page_of_the_family(model_type):
    member, said = MEMBERS[model_type], CliRunner().invoke(main, ["pretrain", "--help"]).output
    assert re.search(rf"^ *{model_type} +{member.objective} +{re.escape(member.about[:30])}", said, re.MULTILINE)
    front = (Path(__file__).resolve().parents[1] / "docs" / "family.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{member.name.split()[0]}\b", front)
    assert model_type in ARCHITECTURES and architecture(model_type).config.model_type == model_type


@every_member
def test_every_member_has_an_objective_and_settings_that_exist(model_type):
    member = MEMBERS[model_type]
    assert member.objective in OBJECTIVES and objectives_of(model_type)[0] == member.objective
    assert member.published.keys() <= {field.name for field in fields(PretrainingSettings)}
    assert member.refused.keys() <= set(OBJECTIVES)
