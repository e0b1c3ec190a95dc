"""DeBERTa, version 1: the same numbers as `transformers`' classes, and the traps of disentangled attention."""

import warnings

import pytest
import torch
import transformers
from support.deberta_configs import VERSION_1 as CONFIGS
from support.family_parity import (
    CLOSE,
    DIRECTIONS,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    perturbed,
    twins,
)
from torch.testing import assert_close

from bertedu import UserError
from bertedu.config import TaskConfig
from bertedu.family.deberta.attention import position_scores
from bertedu.family.deberta.v1 import DebertaConfig, DebertaModel
from bertedu.files import write_json
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.model.heads import MaskedLM

every_config = pytest.mark.parametrize("config", CONFIGS, ids=range(len(CONFIGS)))
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


@both_ways
@every_config
def test_hidden_states_and_attentions_are_those_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(DebertaModel, transformers.DebertaModel, config, saved_by, tmp_path)
    assert ours.config == config
    assert_same_hidden_states(ours, theirs, padded_batch(config))


@both_ways
@every_config
def test_the_masked_lm_loss_and_its_gradients_are_those_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(MaskedLM, transformers.DebertaForMaskedLM, config, saved_by, tmp_path)
    batch = padded_batch(config)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


# Each task: our head, theirs, what the config says of the task, and labels for three texts.
LABELS = torch.tensor([2, 0, 1])
TAGS = padded_batch(CONFIGS[0])["input_ids"] % 4
TASKS = {
    "classes": (TextClassifier, "SequenceClassification", TaskConfig(("a", "b", "c")), {"labels": LABELS}),
    "regression": (
        TextClassifier,
        "SequenceClassification",
        TaskConfig(("score",), problem_type="regression"),
        {"labels": torch.tensor([0.3, -1.0, 2.0])},
    ),
    "tags": (Tagger, "TokenClassification", TaskConfig(tuple("abcd")), {"labels": TAGS}),
    "spans": (
        SpanFinder,
        "QuestionAnswering",
        TaskConfig(),
        {"start_positions": torch.tensor([3, 0, 1]), "end_positions": torch.tensor([9, 0, 1])},
    ),
}


@both_ways
@pytest.mark.parametrize("task", TASKS)
def test_the_heads_of_tasks_and_their_gradients_are_those_of_transformers(task, saved_by, tmp_path):
    """Also where padding is scored, for spans: its vectors are those of `transformers`."""
    head, name, task_config, labels = TASKS[task]
    their_class = getattr(transformers, f"DebertaFor{name}")
    ours, theirs = twins(head, their_class, CONFIGS[1], saved_by, tmp_path, task_config)
    assert_same_loss(ours, theirs, padded_batch(CONFIGS[1]), **labels)


def test_padding_enters_the_encoder_as_zeros(tmp_path):
    """Its vector is made zero after the LayerNorm, whose bias would make it something again."""
    ours, theirs = twins(DebertaModel, transformers.DebertaModel, CONFIGS[2], "ours", tmp_path)
    batch = padded_batch(CONFIGS[2])
    padding = batch["attention_mask"] == 0
    states, expected = (model(**batch, output_hidden_states=True).hidden_states for model in (ours, theirs))
    assert not states[0][padding].any() and states[0][~padding].all()
    for mine, their in zip(states, expected, strict=True):
        assert_close(mine[padding], their[padding], **CLOSE)


def test_distances_go_on_beyond_the_positions():
    """A text may be longer than max_position_embeddings unless absolute positions enter, too; segments mean nothing."""
    ids = torch.arange(1, 31)[None]
    model = DebertaModel(CONFIGS[3]).eval()
    assert model(ids).last_hidden_state.shape == (1, 30, 20)
    assert torch.equal(model(ids, token_type_ids=ids % 2).last_hidden_state, model(ids).last_hidden_state)
    with pytest.raises(UserError, match="30 tokens and this model 20 positions"):
        DebertaModel(CONFIGS[5])(ids)
    with pytest.raises(UserError, match="token id 90 is outside"):
        model(ids + 60)


def test_position_to_content_picks_the_distance_of_its_own_pair():
    """By hand: two tokens, one head of size 1, distances -2 to 1. Query 2 has key 1 at distance 1, in both terms."""
    query, key = torch.tensor([5.0, 7.0]).view(1, 1, 2, 1), torch.tensor([3.0, 11.0]).view(1, 1, 2, 1)
    position_query = torch.tensor([0.0, 10.0, 20.0, 30.0]).view(1, 4, 1)  # of the distances -2, -1, 0 and 1
    nothing = torch.zeros(1, 4, 1)
    index = torch.tensor([[2, 1], [3, 2]])  # query i, key j: i - j + 2
    scores = position_scores(query, key, position_query, nothing, index)
    assert scores.view(2, 2).tolist() == [[3 * 20, 11 * 10], [3 * 30, 11 * 20]]
    scores = position_scores(query, key, nothing, position_query, index)
    assert scores.view(2, 2).tolist() == [[5 * 20, 5 * 10], [7 * 30, 7 * 20]]


# What microsoft/deberta-base has in its config.json.
PUBLISHED = {
    "model_type": "deberta",
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 768,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "relative_attention": True,
    "pos_att_type": "c2p|p2c",
    "layer_norm_eps": 1e-7,
    "max_relative_positions": -1,
    "position_biased_input": False,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "type_vocab_size": 0,
    "vocab_size": 50265,
}


def test_the_published_config_is_read_as_it_is_meant(tmp_path):
    write_json(tmp_path / "config.json", PUBLISHED)
    assert DebertaConfig.load(tmp_path) == DebertaConfig() and DebertaConfig().farthest == 512
    usual = transformers.DebertaConfig(relative_attention=True, pos_att_type="p2c|c2p", position_biased_input=False)
    usual.save_pretrained(tmp_path)
    assert DebertaConfig.load(tmp_path) == DebertaConfig()
    DebertaConfig().save(tmp_path, "DebertaModel")
    theirs = transformers.AutoConfig.from_pretrained(tmp_path)
    for name, value in {**PUBLISHED, "pos_att_type": ["c2p", "p2c"]}.items():
        assert getattr(theirs, name) == value, name


def test_what_transformers_takes_for_another_model_is_refused(tmp_path):
    """Its default has no relative attention, whatever its documentation says; and sizes may go their own way there."""
    transformers.DebertaConfig().save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"config\.json: relative_attention is False, and only True can be read here"):
        DebertaConfig.load(tmp_path)
    for name in ("relative_attention", "pos_att_type"):
        write_json(tmp_path / "config.json", {key: value for key, value in PUBLISHED.items() if key != name})
        with pytest.raises(UserError, match=f"{name} is "):
            DebertaConfig.load(tmp_path)
    others = {"pos_att_type": "c2p", "embedding_size": 128, "attention_head_size": 32, "type_vocab_size": 2}
    for name, value in {**others, "pooler_hidden_size": 7, "talking_head": True, "pooler_hidden_act": "tanh"}.items():
        write_json(tmp_path / "config.json", {**PUBLISHED, name: value})
        with pytest.raises(UserError, match=rf"config\.json: .*{name} is .* can be read here"):
            DebertaConfig.load(tmp_path)
    write_json(tmp_path / "config.json", {k: v for k, v in PUBLISHED.items() if k != "position_biased_input"})
    assert DebertaConfig.load(tmp_path).position_biased_input
    with pytest.raises(UserError, match="max_relative_positions is 0: give a whole number of at least 1"):
        DebertaConfig(max_relative_positions=0)


def test_deberta_base_has_the_published_number_of_weights():
    """140 million with the masked-word head, say its authors (README of microsoft/DeBERTa)."""
    with torch.device("meta"):
        model = MaskedLM(DebertaConfig())
    norm, dense = 2 * 768, 768 * 768
    attention = 3 * dense + 2 * 768 + dense + (dense + 768) + (dense + 768)  # in_proj, q and v bias, pos, pos_q, output
    layer = attention + norm + (2 * 768 * 3072 + 3072 + 768) + norm
    encoder = 50265 * 768 + norm + 12 * layer + 2 * 512 * 768
    head = dense + 768 + norm + 50265
    assert sum(p.numel() for p in model.encoder.parameters()) == encoder == 138_601_728
    assert sum(p.numel() for p in model.parameters()) == encoder + head == 139_244_121


@pytest.mark.parametrize("legacy", [True, False])
def test_a_head_of_the_other_name_is_read(legacy, tmp_path):
    """`transformers` calls it cls.predictions, Microsoft and `transformers` with "legacy": false lm_predictions."""
    theirs = transformers.DebertaForMaskedLM(
        transformers.DebertaConfig(
            vocab_size=60,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=20,
            relative_attention=True,
            pos_att_type=["c2p", "p2c"],
            position_biased_input=False,
            legacy=legacy,
        )
    )
    perturbed(theirs).save_pretrained(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = MaskedLM.from_pretrained(tmp_path)
    batch = padded_batch(ours.config)
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).prediction_logits[real], theirs(**batch).logits[real], **CLOSE)


def test_choices_have_a_head():
    """`transformers` has no class for them here; ours is that of version 2."""
    model = ChoiceModel.from_config(CONFIGS[0])
    assert model(torch.ones(2, 3, 5, dtype=torch.long)).logits.shape == (2, 3)
