"""The start for short runs: what each kind of weight begins with."""

import math

import pytest
import torch

from bertedu.config import BertConfig
from bertedu.model import BertForPreTraining
from bertedu.pretraining.initialization import (
    EMBEDDING_DEVIATION,
    MATCHING_SCALE,
    POSITION_AMPLITUDE,
    SLOWEST,
    initialize_for_matching,
    sinusoids,
)

COUNTS = torch.arange(200) * 3


@pytest.fixture(scope="module")
def model() -> BertForPreTraining:
    torch.manual_seed(0)
    model = BertForPreTraining(BertConfig.preset("tiny", vocab_size=200, max_position_embeddings=64))
    initialize_for_matching(model, COUNTS)
    return model


def test_keys_equal_queries_in_the_first_layer_alone(model):
    """With the same start the second layer looks at neighbours too, and whether it ever looks further is luck."""
    first, second = (layer.attention for layer in model.bert.encoder.layers)
    assert torch.equal(first.key.weight, first.query.weight) and not torch.equal(second.key.weight, second.query.weight)
    assert not torch.equal(first.value.weight, first.query.weight)
    assert first.key.weight.data_ptr() != first.query.weight.data_ptr(), "equal, not tied"


def test_linear_layers_start_with_one_over_root_fan_in(model):
    layers = {name: module for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    assert len(layers) == 2 * 6 + 3
    for name, layer in layers.items():
        scale = MATCHING_SCALE if "layers.0." in name and name.endswith(("query", "key")) else 1
        expected = scale / math.sqrt(layer.in_features)
        error = 3 * expected / math.sqrt(2 * layer.weight.numel())
        assert abs(float(layer.weight.detach().std()) - expected) < error
        assert not layer.bias.any()


def test_the_decoder_knows_how_frequent_each_word_is(model):
    """With zero vectors its softmax is the unigram distribution, one count more for each word."""
    guess = model.masked_lm.decoder(torch.zeros(128)).softmax(dim=0)
    assert torch.allclose(guess, (COUNTS + 1) / (COUNTS.sum() + 200), atol=1e-6)
    assert model.masked_lm.decoder.weight is model.bert.embeddings.token.weight


def test_embeddings_and_padding(model):
    embeddings = model.bert.embeddings
    words = embeddings.token.weight.detach()
    assert not words[model.config.pad_token_id].any()
    assert float(words[1:].std()) == pytest.approx(EMBEDDING_DEVIATION, rel=0.02)
    assert torch.allclose(embeddings.position.weight.detach(), POSITION_AMPLITUDE * sinusoids(64, 128))


def test_sinusoids_as_defined():
    """As in Vaswani et al. 2017, section 3.5, with another base than 10000: PE(p, 2i) = sin(p / base^(2i/D)),
    PE(p, 2i+1) its cosine."""
    table = sinusoids(50, 16)
    for position in (0, 1, 49):
        for i in range(8):
            angle = position / SLOWEST ** (2 * i / 16)
            assert table[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-5)
            assert table[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-5)
    assert sinusoids(3, 5).shape == (3, 5)


def test_a_token_looks_at_tokens_like_itself():
    """That is the point: in the first layer a word at some distance gets more attention if it is the same word."""
    torch.manual_seed(1)
    model = BertForPreTraining(BertConfig.preset("tiny", vocab_size=500, max_position_embeddings=32))
    initialize_for_matching(model, torch.ones(500))
    different = torch.stack([torch.randperm(490)[:16] + 10 for _ in range(200)])
    same = different.clone()
    same[:, 12] = same[:, 3]
    before, after = (model.eval()(ids, output_attentions=True).attentions[0].detach() for ids in (different, same))
    assert (after[:, :, 3, 12].mean(dim=0) > 2 * before[:, :, 3, 12].mean(dim=0)).all(), "in each head"
