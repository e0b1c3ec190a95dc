"""DeBERTa, versions 2 and 3: the same numbers as `transformers`' classes, and the traps of the buckets."""

import pytest
import torch
import transformers
from support.deberta_configs import VERSION_2 as CONFIGS
from support.family_parity import (
    DIRECTIONS,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    twins,
)
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

from bertedu import UserError
from bertedu.config import TaskConfig
from bertedu.family.deberta.v2 import DebertaV2Config, DebertaV2Model, log_buckets
from bertedu.files import write_json
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.model.architecture import architecture
from bertedu.model.heads import MaskedLM

every_config = pytest.mark.parametrize("config", CONFIGS, ids=range(len(CONFIGS)))
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


@both_ways
@every_config
def test_hidden_states_and_attentions_are_those_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(DebertaV2Model, transformers.DebertaV2Model, config, saved_by, tmp_path)
    assert ours.config == config
    assert_same_hidden_states(ours, theirs, padded_batch(config))


@both_ways
@every_config
def test_the_masked_lm_loss_and_its_gradients_are_those_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(MaskedLM, transformers.DebertaV2ForMaskedLM, config, saved_by, tmp_path)
    batch = padded_batch(config)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


# Each task: our head, theirs, what the config says of the task, and labels for three texts.
SCORES = TaskConfig(("score",), problem_type="regression")
SPAN = {"start_positions": torch.tensor([3, 0, 1]), "end_positions": torch.tensor([9, 0, 1])}
TASKS = {
    "classes": (
        TextClassifier,
        "SequenceClassification",
        TaskConfig(tuple("abc")),
        {"labels": torch.tensor([2, 0, 1])},
    ),
    "regression": (TextClassifier, "SequenceClassification", SCORES, {"labels": torch.tensor([0.3, -1.0, 2.0])}),
    "tags": (Tagger, "TokenClassification", TaskConfig(tuple("abcd")), {"labels": torch.arange(36).view(3, 12) % 4}),
    "spans": (SpanFinder, "QuestionAnswering", TaskConfig(), SPAN),
}


@both_ways
@pytest.mark.parametrize("task", TASKS)
def test_the_heads_of_tasks_and_their_gradients_are_those_of_transformers(task, saved_by, tmp_path):
    """Also where padding is scored: its vectors are those of `transformers`, and what is learned from them."""
    head, name, task_config, labels = TASKS[task]
    their_class = getattr(transformers, f"DebertaV2For{name}")
    for number in (0, 5):  # without and with a convolution
        folder = tmp_path / str(number)
        ours, theirs = twins(head, their_class, CONFIGS[number], saved_by, folder, task_config)
        assert_same_loss(ours, theirs, padded_batch(CONFIGS[number]), **labels)


@both_ways
def test_the_head_for_choices_and_its_gradients_are_those_of_transformers(saved_by, tmp_path):
    ours, theirs = twins(ChoiceModel, transformers.DebertaV2ForMultipleChoice, CONFIGS[1], saved_by, tmp_path)
    batch = {name: tensor[None] for name, tensor in padded_batch(CONFIGS[1]).items()}  # one question, three choices
    assert_same_loss(ours, theirs, batch, labels=torch.tensor([2]))


@pytest.mark.parametrize(("buckets", "farthest"), [(256, 512), (4, 14), (6, 100), (32, 128), (7, 50), (2, 9)])
def test_distances_fall_into_the_buckets_of_transformers(buckets, farthest):
    """`transformers` also loses no distance at the edge of a bucket, where the logarithm is a whole number."""
    distances = torch.arange(-farthest - 9, farthest + 10)
    expected = make_log_bucket_position(distances, buckets, farthest).long()
    assert torch.equal(log_buckets(distances, buckets, farthest), expected)


def test_buckets_are_those_of_paper_and_code_by_hand():
    """Four buckets each way, distances up to 13: 1 and 2 have their own, 3 to 13 share the third, 14 is beyond."""
    distances = torch.tensor([0, 1, 2, 3, 12, 13, -2, -3, -13])
    assert log_buckets(distances, 4, 14).tolist() == [0, 1, 2, 3, 3, 3, -2, -3, -3]
    assert log_buckets(torch.tensor([14, 40, -40]), 4, 14).tolist() == [4, 4, -4]
    assert log_buckets(torch.tensor([300, 511, -128, -129]), 256, 512).tolist() == [
        207,
        255,
        -128,
        -129,
    ]  # 206.1, rounded up


# What microsoft/deberta-v3-base has in its config.json.
PUBLISHED = {
    "model_type": "deberta-v2",
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 768,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "layer_norm_eps": 1e-7,
    "max_relative_positions": -1,
    "position_biased_input": False,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "type_vocab_size": 0,
    "vocab_size": 128100,
}


def test_the_published_config_is_read_as_it_is_meant(tmp_path):
    write_json(tmp_path / "config.json", PUBLISHED)
    assert DebertaV2Config.load(tmp_path) == DebertaV2Config()
    DebertaV2Config().save(tmp_path, "DebertaV2Model")
    theirs = transformers.AutoConfig.from_pretrained(tmp_path)
    for name, value in {**PUBLISHED, "pos_att_type": ["c2p", "p2c"]}.items():
        assert getattr(theirs, name) == value, name
    # xlarge, with a convolution; its file names the activation, which is tanh where none is named
    write_json(tmp_path / "config.json", {**PUBLISHED, "conv_kernel_size": 3, "conv_act": "gelu"})
    assert DebertaV2Config.load(tmp_path) == DebertaV2Config(conv_kernel_size=3, conv_act="gelu")


def test_what_transformers_takes_for_another_model_is_refused(tmp_path):
    """Its defaults are those of no published model: nothing shared, no buckets, no norm."""
    for name in ("share_att_key", "norm_rel_ebd", "position_buckets", "relative_attention"):
        write_json(tmp_path / "config.json", {key: value for key, value in PUBLISHED.items() if key != name})
        with pytest.raises(UserError, match=rf"config\.json: .*{name} is "):
            DebertaV2Config.load(tmp_path)
    for change in ({"conv_kernel_size": 4}, {"conv_act": "relu"}, {"conv_groups": 2}):
        write_json(tmp_path / "config.json", {**PUBLISHED, **change})
        with pytest.raises(UserError, match=rf"config\.json: .*{next(iter(change))} is "):
            DebertaV2Config.load(tmp_path)


def test_deberta_v3_base_has_the_published_number_of_weights():
    """98 million in the table of token embeddings, as in the README of microsoft/DeBERTa, which has 86 million for
    the rest: 85.4 are without a head.
    """
    with torch.device("meta"):
        model = DebertaV2Model(DebertaV2Config())
    norm, dense = 2 * 768, 768 * 768 + 768
    layer = 4 * dense + norm + (2 * 768 * 3072 + 3072 + 768) + norm
    layers = 12 * layer + 2 * 256 * 768 + norm
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == 128100 * 768 + norm + layers == 183_831_552
    assert round(layers / 1e6) == 85 and round(128100 * 768 / 1e6) == 98


def test_two_versions_are_two_models():
    """Their weights have the same prefix on disk and other names inside."""
    one, two = architecture("deberta"), architecture("deberta-v2")
    assert one.class_name("ForMaskedLM") == "DebertaForMaskedLM" and two.class_name("Model") == "DebertaV2Model"
    name = "encoder.layers.3.attention.key.bias"
    assert two.names.to_transformers(name) == "encoder.layer.3.attention.self.key_proj.bias"
    assert two.names.to_transformers("encoder.relative_norm.bias") == "encoder.LayerNorm.bias"


def test_a_single_bucket_is_refused():
    with pytest.raises(UserError, match="position_buckets is 1: give at least 2"):
        DebertaV2Config(60, 16, 2, 4, 24, position_buckets=1)
