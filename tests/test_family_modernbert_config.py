"""ModernBERT's config: the published sizes, and the older and newer names of its entries on disk."""

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers

from bertedu import UserError
from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.model.heads import MaskedLM


def test_the_defaults_are_the_published_ones(tmp_path):
    """Those of the class in `transformers`, which are ModernBERT-base's, as it writes them today."""
    transformers.ModernBertConfig().save_pretrained(tmp_path)
    assert ModernBertConfig.load(tmp_path) == ModernBertConfig() == ModernBertConfig.preset("base")
    large = ModernBertConfig.preset("large")
    sizes = {"num_hidden_layers": 28, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 2624}
    transformers.ModernBertConfig(**sizes).save_pretrained(tmp_path)
    assert ModernBertConfig.load(tmp_path) == large
    assert ModernBertConfig.preset("tiny").intermediate_size == 192


def test_the_published_models_have_the_published_number_of_weights():
    """By hand: 149 million for base and 395 for large (Warner et al. 2024), with the language model's head."""
    for preset, millions in (("base", 149.7), ("large", 395.9)):
        config = ModernBertConfig.preset(preset)
        with torch.device("meta"):
            model = MaskedLM(config)
        V, D, L, width = config.vocab_size, config.hidden_size, config.num_hidden_layers, config.intermediate_size
        attention, feed_forward = 4 * D * D, 3 * D * width
        norms = 2 * L - 1 + 2 + 1  # two a layer but in the first, embeddings and last, the head
        by_hand = V * D + L * (attention + feed_forward) + norms * D + D * D + V
        assert sum(parameter.numel() for parameter in model.parameters()) == by_hand
        assert by_hand / 1e6 == pytest.approx(millions, abs=0.05)


def config_on_disk(folder, **entries: Any) -> ModernBertConfig:
    """A config.json with these entries, read."""
    (folder / "config.json").write_text(json.dumps({"model_type": "modernbert", **entries}))
    return ModernBertConfig.load(folder)


def test_older_and_newer_names_on_disk_are_read(tmp_path):
    """The published checkpoints have the interval and two thetas, `transformers` 5 a list of layers and a dict; where a
    file has both, `transformers` goes by the newer ones, and so must we.
    """
    old = {"global_attn_every_n_layers": 2, "global_rope_theta": 5000, "local_rope_theta": 6000.0}
    layers = ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention"]
    ropes = {"full_attention": {"rope_theta": 70.0, "rope_type": "default"}, "sliding_attention": {"rope_theta": 80}}
    new = {"num_hidden_layers": 4, "layer_types": layers, "rope_parameters": ropes}
    empty = {"layer_types": None, "rope_parameters": None}
    for entries, expected in (
        (old, (2, 5000, 6000.0)),
        ({**old, **empty}, (2, 5000, 6000.0)),
        (new, (4, 70.0, 80)),
        ({**old, **new}, (4, 70.0, 80)),
        ({**old, "rope_parameters": {"sliding_attention": {"rope_theta": 80}}}, (2, 5000, 80)),
    ):
        config = config_on_disk(tmp_path, **entries)
        assert (config.global_attn_every_n_layers, config.global_rope_theta, config.local_rope_theta) == expected
        theirs = transformers.AutoConfig.from_pretrained(tmp_path)
        assert [kind == "full_attention" for kind in theirs.layer_types] == [
            config.is_global(layer) for layer in range(config.num_hidden_layers)
        ]
        assert theirs.rope_parameters["full_attention"]["rope_theta"] == config.global_rope_theta
        assert theirs.rope_parameters["sliding_attention"]["rope_theta"] == config.local_rope_theta


def test_two_layers_remember_their_interval(tmp_path):
    """Two layers cannot tell every second from every third: what was saved comes back, and base's three without it."""
    layers = ["full_attention", "sliding_attention"]
    entries = {"num_hidden_layers": 2, "layer_types": layers}
    assert config_on_disk(tmp_path, **entries).global_attn_every_n_layers == 3
    assert config_on_disk(tmp_path, **entries, global_attn_every_n_layers=5).global_attn_every_n_layers == 5


def test_what_is_left_of_the_config_of_a_bert_is_not_believed(tmp_path):
    """Published files hold such entries beside the real ones. Nothing in `transformers` reads them."""
    left = {"layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}
    left |= {"hidden_act": "relu", "position_embedding_type": "sans_pos", "type_vocab_size": 2}
    assert config_on_disk(tmp_path, **left) == ModernBertConfig()
    config = config_on_disk(tmp_path, norm_eps=1e-3, **left, mlp_dropout=0.2, hidden_activation="gelu_pytorch_tanh")
    expected = {"layer_norm_eps": 1e-3, "hidden_dropout_prob": 0.2, "hidden_act": "gelu_new"}
    assert config == replace(ModernBertConfig(), **expected)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"norm_bias": True}, "norm_bias is True, and only False can be read here"),
        ({"decoder_bias": False}, "decoder_bias is False, and only True"),
        ({"num_hidden_layers": 2, "layer_types": ["sliding_attention"] * 2}, "layer_types is .* at equal distances"),
        ({"layer_types": ["full_attention"]}, "num_hidden_layers is 22 and layer_types names 1 layers"),
        ({"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}, "rope_type of full_attention is 'yarn'"),
        ({"rope_parameters": {"full_attention": {"rope_theta": "x"}}}, "global_rope_theta is 'x': give a number above"),
        ({"rope_parameters": {"rope_theta": 3}}, "rope_parameters is"),
        ({"local_rope_theta": 0}, "local_rope_theta is 0: give a number above 0"),
        ({"local_attention": 0}, "local_attention is 0: give a whole number"),
        ({"global_attn_every_n_layers": -1}, "global_attn_every_n_layers is -1: give a whole number"),
        ({"classifier_pooling": "max"}, "classifier_pooling is 'max': choose one of cls, mean"),
        ({"classifier_dropout": 1.0}, "classifier_dropout is 1.0: give a number from 0"),
        ({"num_attention_heads": 256}, "heads of 3 numbers, and rotary embeddings turn pairs"),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, "rope_scaling is .*, and only None"),
    ],
)
def test_a_config_that_means_something_else_is_refused(entries, said, tmp_path):
    with pytest.raises(UserError, match=rf"config\.json: .*{said}"):
        config_on_disk(tmp_path, **entries)
