"""How fast each weight learns: by its layer, and from when on."""

import re

import pytest
import torch

from bertedu.config import BertConfig, TaskConfig
from bertedu.errors import UserError
from bertedu.finetuning.classification import BertForSequenceClassification
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import freeze_encoder, pace, pace_at
from bertedu.model import BertForMaskedLM, BertForPreTraining, BertModel


def small_model(layers: int = 2) -> BertForSequenceClassification:
    torch.manual_seed(0)
    config = BertConfig(50, 16, layers, 2, 32)
    return BertForSequenceClassification.from_config(config, TaskConfig(("no", "yes")))


def test_every_layer_has_its_own_depth():
    model = small_model(layers=12)
    assert {model.depth(name) for name, _ in model.named_parameters()} == set(range(14))
    assert model.depth("encoder.embeddings.norm.weight") == 0
    assert model.depth("encoder.encoder.layers.11.attention.query.weight") == 12
    assert model.depth("encoder.encoder.layers.1.attention.query.weight") == 2  # not layer 11
    assert model.depth("encoder.pooler.dense.weight") == model.depth("classifier.bias") == 13


@pytest.mark.parametrize("model_class", [BertModel, BertForPreTraining, BertForMaskedLM])
def test_a_layer_lies_as_deep_in_every_model(model_class):
    """Muon and the rates of embeddings go by it in pre-training too."""
    model = model_class(BertConfig(50, 16, 3, 2, 32))
    depths = {name: model.depth(name) for name, _ in model.named_parameters()}
    for name, depth in depths.items():
        layer = re.search(r"layers\.(\d)\.", name)
        assert depth == (1 + int(layer[1]) if layer else 0 if "embeddings." in name else 4), name
    assert set(depths.values()) >= {0, 1, 2, 3}


def test_lower_layers_learn_slower_than_upper_ones():
    of = pace(FinetuningSettings(layer_decay=0.5, head_rate=10), small_model())
    assert of("classifier.weight")[0] == 10
    assert of("encoder.encoder.layers.1.attention.query.weight")[0] == 0.5
    assert of("encoder.encoder.layers.0.attention.query.weight")[0] == 0.25
    assert of("encoder.embeddings.token.weight")[0] == 0.125


def test_layers_thaw_from_the_top_one_by_one():
    settings = FinetuningSettings(unfreeze_over=0.6)
    assert [pace_at(settings, depth, layers=2)[1] for depth in (3, 2, 1, 0)] == pytest.approx([0.0, 0.2, 0.4, 0.6])


def test_a_frozen_encoder_does_not_learn():
    model = small_model()
    freeze_encoder(model)
    free = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert free == {"encoder.pooler.dense.weight", "encoder.pooler.dense.bias", "classifier.weight", "classifier.bias"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("epochs", 0), ("batch_size", 0), ("max_length", 4), ("layer_decay", 0.0), ("layer_decay", 1.5)],
        *[("unfreeze_over", 1.0), ("pooling", "sum"), ("class_weights", "yes"), ("head_rate", -1.0)],
    ],
)
def test_a_setting_that_cannot_be_is_refused(name, value):
    with pytest.raises(UserError, match=name):
        FinetuningSettings(**{name: value})
