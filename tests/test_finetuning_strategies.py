"""How fast each weight learns: by its layer, and from when on."""

import pytest
import torch

from bertedu.config import BertConfig
from bertedu.errors import UserError
from bertedu.finetuning.classification import BertForSequenceClassification
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import depth, freeze_encoder, pace


def small_model() -> BertForSequenceClassification:
    torch.manual_seed(0)
    return BertForSequenceClassification(BertConfig.preset("tiny", vocab_size=50, labels=("no", "yes")))


def test_a_layer_is_taken_for_its_neighbour():
    names = dict(small_model().named_parameters())
    assert {depth(name, 2) for name in names} == {0, 1, 2, 3}
    assert depth("bert.embeddings.norm.weight", 12) == 0
    assert depth("bert.encoder.layers.11.attention.query.weight", 12) == 12
    assert depth("bert.encoder.layers.1.attention.query.weight", 12) == 2  # not layer 11
    assert depth("bert.pooler.dense.weight", 12) == depth("classifier.bias", 12) == 13


def test_lower_layers_learn_faster_than_upper_ones():
    of = pace(FinetuningSettings(layer_decay=0.5, head_rate=10), layers=2)
    assert of("classifier.weight")[0] == 10
    assert of("bert.encoder.layers.1.attention.query.weight")[0] == 0.5
    assert of("bert.encoder.layers.0.attention.query.weight")[0] == 0.25
    assert of("bert.embeddings.token.weight")[0] == 0.125


def test_layers_thaw_from_the_bottom_or_all_at_once():
    of = pace(FinetuningSettings(unfreeze_over=0.6), layers=2)
    names = ("classifier.bias", "bert.encoder.layers.1.a", "bert.encoder.layers.0.a", "bert.embeddings.token.weight")
    assert [of(name)[1] for name in names] == pytest.approx([0.0, 0.2, 0.4, 0.6])


def test_a_frozen_encoder_learns():
    model = small_model()
    freeze_encoder(model)
    free = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert free == {"bert.pooler.dense.weight", "bert.pooler.dense.bias", "classifier.weight", "classifier.bias"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("epochs", 0), ("batch_size", 0), ("max_length", 4), ("layer_decay", 0.0), ("layer_decay", 1.5)],
        *[("unfreeze_over", 1.0), ("pooling", "sum"), ("class_weights", "yes"), ("head_rate", -1.0)],
    ],
)
def test_a_setting_that_cannot_be_is_accepted(name, value):
    with pytest.raises(UserError, match=name):
        FinetuningSettings(**{name: value})
