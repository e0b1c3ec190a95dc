"""Every field of a configuration is checked, and config.json goes both ways."""

import json

import pytest
import transformers

from bertedu import BertConfig, UserError
from bertedu.config import TaskConfig


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("hidden_size", value) for value in (0, -1, 1.5, "768", None, True)],
        ("vocab_size", 0),
        ("num_hidden_layers", 0),
        ("num_attention_heads", 0),
        ("intermediate_size", 2.0),
        ("max_position_embeddings", None),
        ("type_vocab_size", 0),
        *[("hidden_dropout_prob", value) for value in (1.0, -0.1, "0.1", None, float("nan"))],
        ("attention_probs_dropout_prob", 1),
        *[("initializer_range", value) for value in (0, -0.02, None, float("nan"), float("inf"))],
        ("layer_norm_eps", 0.0),
        *[("pad_token_id", value) for value in (-1, 30522, None, 0.0)],
        *[("hidden_act", value) for value in ("relu", None, ["gelu"])],
    ],
)
def test_an_unusable_field_is_refused(field, value):
    with pytest.raises(UserError, match=f"config: {field} is .*: (give|choose)"):
        BertConfig(**{field: value})


def test_heads_that_do_not_divide_the_hidden_size_are_refused():
    with pytest.raises(UserError, match=r"hidden_size 768 .* num_attention_heads 10: choose"):
        BertConfig(num_attention_heads=10)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("tiny", (2, 128, 2, 512)),
        ("mini", (4, 256, 4, 1024)),
        ("small", (4, 512, 8, 2048)),
        ("medium", (8, 512, 8, 2048)),
        ("base", (12, 768, 12, 3072)),
        ("large", (24, 1024, 16, 4096)),
    ],
)
def test_presets_have_the_published_sizes(name, sizes):
    config = BertConfig.preset(name, vocab_size=99)
    assert (
        config.num_hidden_layers,
        config.hidden_size,
        config.num_attention_heads,
        config.intermediate_size,
    ) == sizes
    assert config.vocab_size == 99


def test_an_unknown_preset_is_told_which_there_are():
    with pytest.raises(UserError, match="no preset 'huge': choose one of tiny, mini, small, medium, base, large"):
        BertConfig.preset("huge")


def test_a_saved_config_keeps_every_field(tmp_path):
    config = BertConfig(60, 24, 3, 2, 48, "gelu_new", 0.2, 0.3, 64, 0.1, 1e-6, 5, type_vocab_size=3)
    task_config = TaskConfig(("b", "a"), "multi_label_classification", "mean", -1.5)
    config.save(tmp_path, "BertModel", task_config)
    assert BertConfig.load(tmp_path) == config and TaskConfig.load(tmp_path) == task_config
    theirs = transformers.AutoConfig.from_pretrained(tmp_path)
    assert theirs.model_type == "bert" and theirs.architectures == ["BertModel"]
    for field, value in json.loads((tmp_path / "config.json").read_text()).items():
        assert getattr(theirs, field) == ({0: "b", 1: "a"} if field == "id2label" else value), field
    theirs.save_pretrained(tmp_path / "theirs")
    assert BertConfig.load(tmp_path / "theirs") == config and TaskConfig.load(tmp_path / "theirs") == task_config


@pytest.mark.parametrize(("written", "read"), [("gelu_pytorch_tanh", "gelu_new"), ("gelu", "gelu")])
def test_other_names_of_gelu_are_read(tmp_path, written, read):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_act": written}))
    assert BertConfig.load(tmp_path).hidden_act == read


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"hidden_size": 768', "line 1, column 20: not valid JSON"),
        ("", "not valid JSON"),
        ("[1, 2]", "expected a JSON object"),
        ('{"model_type": "roberta"}', "model_type is 'roberta', and only 'bert'"),
        ('{"model_type": "bert", "is_decoder": true}', "is_decoder is True, and only False"),
        (
            '{"position_embedding_type": "relative_key"}',
            "position_embedding_type is 'relative_key', and only 'absolute'",
        ),
        ('{"hidden_size": 100}', "hidden_size 100 cannot be shared out over num_attention_heads 12"),
        ('{"hidden_act": "silu"}', "hidden_act is 'silu': choose one of gelu, gelu_new"),
    ],
)
def test_an_unusable_config_json_is_refused(tmp_path, text, words):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(UserError, match=f"{tmp_path}/config.json.*{words}"):
        BertConfig.load(tmp_path)


def test_a_missing_config_json_is_refused_in_words(tmp_path):
    with pytest.raises(UserError, match=r"config\.json cannot be read"):
        BertConfig.load(tmp_path)


def test_labels_are_named_in_the_order_of_their_numbers_from_0(tmp_path):
    """`transformers` sorts id2label by number; a file that was edited by hand may not be."""
    (tmp_path / "config.json").write_text('{"id2label": {"1": "negative", "0": "positive"}}', encoding="utf-8")
    task = TaskConfig.load(tmp_path)
    assert task.labels == ("positive", "negative")
    assert task.on_disk()["label2id"] == {"positive": 0, "negative": 1}
