"""ALBERT against `transformers`, and what is easily got wrong about it: who shares which weights, and where E is D."""

from dataclasses import asdict, replace

import pytest
import torch
import transformers
from safetensors.torch import load_file
from support.family_parity import (
    CLOSE,
    DIRECTIONS,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    twins,
)
from torch.testing import assert_close

from bertedu import BertForPreTraining, UserError
from bertedu.config import TaskConfig
from bertedu.family.albert import AlbertConfig, AlbertModel
from bertedu.files import read_json
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.strategies import freeze_encoder, pace
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.model.heads import MaskedLM
from bertedu.training.muon import Muon
from bertedu.training.optimization import build_optimizers


def small(vocab_size, hidden_size, layers, heads, intermediate_size, embedding_size, **others) -> AlbertConfig:
    """A config by its sizes, with room for 12 tokens and more."""
    sizes = {"embedding_size": embedding_size, "max_position_embeddings": 14, **others}
    return AlbertConfig(vocab_size, hidden_size, layers, heads, intermediate_size, **sizes)


CONFIGS = {
    "one layer once, E below D": small(40, 8, 1, 1, 8, 4),
    "one layer six times": small(97, 32, 6, 4, 128, 12, max_position_embeddings=24),
    "E = D: the matrix between them is there all the same": small(64, 24, 3, 3, 96, 24, hidden_act="gelu"),
    "E above D, padding is 7": small(50, 16, 2, 4, 20, 36, pad_token_id=7),
    "three groups, seven layers, three segments": small(71, 16, 7, 2, 40, 8, num_hidden_groups=3, type_vocab_size=3),
    "two groups of two layers, wide epsilon": small(
        33, 64, 4, 8, 256, 16, num_hidden_groups=2, inner_group_num=2, layer_norm_eps=1e-3
    ),
}
SMALL = CONFIGS["one layer six times"]
GROUPS = CONFIGS["three groups, seven layers, three segments"]
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


@both_ways
@every_config
def test_the_encoder_is_that_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(AlbertModel, transformers.AlbertModel, config, saved_by, tmp_path)
    batch = padded_batch(config, segments=config.type_vocab_size)
    assert_same_hidden_states(ours, theirs, batch)
    assert_close(ours(**batch).pooler_output, theirs(**batch).pooler_output, **CLOSE)


@both_ways
@every_config
def test_the_loss_over_masked_words_and_its_gradients_are_those_of_transformers(config, saved_by, tmp_path):
    """The gradient of a shared weight is the sum over all layers that use it."""
    batch = padded_batch(config, segments=config.type_vocab_size)
    ours, theirs = twins(MaskedLM, transformers.AlbertForMaskedLM, config, saved_by, tmp_path)
    assert_close(ours(**batch).prediction_logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


@both_ways
@every_config
def test_the_two_tasks_of_pretraining_are_masked_words_and_sentence_order(config, saved_by, tmp_path):
    """Our one class with two heads stands on ALBERT's encoder; on disk it is AlbertForPreTraining."""
    batch = padded_batch(config, segments=config.type_vocab_size)
    ours, theirs = twins(BertForPreTraining, transformers.AlbertForPreTraining, config, saved_by, tmp_path)
    output, expected = ours(**batch), theirs(**batch)
    assert_close(output.prediction_logits, expected.prediction_logits, **CLOSE)
    assert_close(output.seq_relationship_logits, expected.sop_logits, **CLOSE)
    words, swapped = masked_labels(batch), torch.tensor([0, 1, 1])
    their_labels = {"labels": words, "sentence_order_label": swapped}
    assert_same_loss(ours, theirs, batch, their_labels, labels=words, next_sentence_label=swapped)
    assert read_json(tmp_path / "config.json")["architectures"] == ["AlbertForPreTraining"]


@both_ways
@pytest.mark.parametrize("config", [SMALL, GROUPS], ids=["one layer", "groups"])
@pytest.mark.parametrize("problem", ["classes", "regression"])
def test_the_head_for_texts_is_that_of_transformers(config, problem, saved_by, tmp_path):
    task = TaskConfig(("a", "b", "c")) if problem == "classes" else TaskConfig(("score",), "regression")
    labels = torch.tensor([0, 2, 1]) if problem == "classes" else torch.tensor([0.5, -1.0, 2.0])
    batch = padded_batch(config, segments=config.type_vocab_size)
    classes = (TextClassifier, transformers.AlbertForSequenceClassification)
    ours, theirs = twins(*classes, config, saved_by, tmp_path, task)
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=labels)


@both_ways
def test_the_head_for_tokens_is_that_of_transformers(saved_by, tmp_path):
    batch = padded_batch(SMALL, segments=2)
    classes = (Tagger, transformers.AlbertForTokenClassification)
    ours, theirs = twins(*classes, SMALL, saved_by, tmp_path, TaskConfig(("O", "B-x", "I-x")))
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).logits[real], theirs(**batch).logits[real], **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=(batch["input_ids"] % 3).where(real, -100))


@both_ways
def test_the_head_for_answers_is_that_of_transformers(saved_by, tmp_path):
    batch = padded_batch(SMALL, segments=2)
    ours, theirs = twins(SpanFinder, transformers.AlbertForQuestionAnswering, SMALL, saved_by, tmp_path)
    assert_close(ours(**batch).end_logits, theirs(**batch).end_logits, **CLOSE)
    ends = {"start_positions": torch.tensor([3, 0, 1]), "end_positions": torch.tensor([5, 4, 1])}
    assert_same_loss(ours, theirs, batch, **ends)


@both_ways
def test_the_head_for_choices_is_that_of_transformers(saved_by, tmp_path):
    flat = padded_batch(SMALL, segments=2)
    batch = {name: torch.stack([tensor, tensor.flip(0)], dim=1) for name, tensor in flat.items()}  # [B, 2, T]
    ours, theirs = twins(ChoiceModel, transformers.AlbertForMultipleChoice, SMALL, saved_by, tmp_path)
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=torch.tensor([0, 1, 0]))


def test_the_defaults_are_the_published_ones():
    """gelu_new and no dropout in the layers among them; only the last layer of a task has some."""
    config, published = AlbertConfig(), transformers.AlbertConfig()
    assert {name: getattr(published, name) for name in asdict(config)} == asdict(config)
    assert config.hidden_act == "gelu_new" and config.hidden_dropout_prob == config.attention_probs_dropout_prob == 0
    model = TextClassifier.from_config(SMALL, TaskConfig(("a", "b")))
    assert model.dropout.p == 0.1 and model.encoder.embeddings.dropout.p == 0


# Lan et al. 2020, table 1, in millions. Counted as `transformers` builds them, xlarge and xxlarge have 58.7 and 222.6:
# what the paper counts beside that, it does not say.
@pytest.mark.parametrize(("preset", "millions", "paper"), [
    ("base", 11.7, 12), ("large", 17.7, 18), ("xlarge", 58.7, 60), ("xxlarge", 222.6, 235)
])  # fmt: skip
def test_published_sizes_have_the_published_number_of_weights(preset, millions, paper):
    """By hand: three tables of E numbers, E to D, one layer, the pooler; each LayerNorm has two vectors."""
    config = AlbertConfig.preset(preset)
    V, E, D = 30000, 128, config.hidden_size
    embeddings = (V + 512 + 2) * E + 2 * E + E * D + D
    layer = 4 * (D * D + D) + 2 * D + (D * 4 * D + 4 * D) + (4 * D * D + D) + 2 * D
    with torch.device("meta"):
        ours, theirs = AlbertModel(config), transformers.AlbertModel(transformers.AlbertConfig(**asdict(config)))
    for model in (ours, theirs):
        assert sum(weight.numel() for weight in model.parameters()) == embeddings + layer + D * D + D
    assert round((embeddings + layer + D * D + D) / 1e6, 1) == millions == pytest.approx(paper, rel=0.06)


def test_more_layers_have_no_more_weights():
    one, many = (AlbertModel(replace(SMALL, num_hidden_layers=layers)) for layers in (1, 24))
    assert {name: weight.shape for name, weight in one.named_parameters()} == {
        name: weight.shape for name, weight in many.named_parameters()
    }


def test_layers_share_with_their_neighbours():
    """By hand: 7 layers in 3 groups share as 0 0 0 1 1 2 2, not in turns, and not the remainder at the end."""
    assert [GROUPS.group_of(layer) for layer in range(7)] == [0, 0, 0, 1, 1, 2, 2]
    for layers in range(1, 40):
        for groups in range(1, layers + 1):
            config = small(40, 8, layers, 1, 8, 4, num_hidden_groups=groups)
            assert {config.group_of(layer) for layer in range(layers)} == set(range(groups)), (layers, groups)
    assert small(40, 8, 18, 1, 8, 4, num_hidden_groups=14).group_of(9) == 6  # not 7: 9 / (18 / 14) is rounded down
    with pytest.raises(UserError, match="num_hidden_groups is 3 and num_hidden_layers 2: give at most one group"):
        small(40, 8, 2, 1, 8, 4, num_hidden_groups=3)


def test_every_weight_has_its_name_on_disk(tmp_path):
    """The pooler is one Linear, the head has no transform, and the matrix from E to D is inside `encoder`."""
    BertForPreTraining(replace(SMALL, embedding_size=32)).save_pretrained(tmp_path)
    layer = "albert.encoder.albert_layer_groups.0.albert_layers.0."
    parts = ["query", "key", "value", "dense", "LayerNorm"]
    modules = [
        *("albert.embeddings." + table for table in ("position_embeddings", "token_type_embeddings", "LayerNorm")),
        *(f"{layer}attention.{part}" for part in parts),
        *(f"{layer}{part}" for part in ("ffn", "ffn_output", "full_layer_layer_norm")),
        *("albert.encoder.embedding_hidden_mapping_in", "albert.pooler", "sop_classifier.classifier"),
        *("predictions.dense", "predictions.LayerNorm"),
    ]
    expected = {f"{module}.{kind}" for module in modules for kind in ("weight", "bias")}
    expected -= {"albert.embeddings.position_embeddings.bias", "albert.embeddings.token_type_embeddings.bias"}
    expected |= {"albert.embeddings.word_embeddings.weight", "predictions.bias"}
    assert load_file(tmp_path / "model.safetensors").keys() == expected


def test_the_head_scores_words_by_vectors_of_the_size_of_the_embeddings():
    """It goes back from D to E, since the decoder is the table of embeddings."""
    model = MaskedLM(SMALL)
    assert model.masked_lm.dense.weight.shape == (12, 32) and model.masked_lm.norm.weight.shape == (12,)
    assert model.masked_lm.decoder.weight is model.encoder.embeddings.token.weight


def test_a_shared_weight_counts_as_the_last_layer_that_uses_it():
    """It would learn at the slowest rate of all layers, and with it all layers; between groups the order stays."""
    model = AlbertModel(SMALL)
    depths = {name: model.depth(name) for name, _ in model.named_parameters()}
    assert {depth for name, depth in depths.items() if name.startswith("encoder.groups.")} == {6}
    assert {depth for name, depth in depths.items() if name.startswith("embeddings.")} == {0}
    assert {depth for name, depth in depths.items() if name.startswith("pooler.")} == {7}
    groups = AlbertModel(GROUPS)
    assert [groups.depth(f"encoder.groups.{group}.0.feed_forward.expand.weight") for group in range(3)] == [3, 5, 7]


def test_fine_tuning_by_layers_leaves_the_shared_layer_its_rate():
    """It learns at nearly the full rate and begins right after the head: as ALBERT is fine-tuned without all this."""
    model = TextClassifier.from_config(SMALL, TaskConfig(("a", "b")))
    at = pace(FinetuningSettings(layer_decay=0.8, unfreeze_over=0.5), model)
    assert at("encoder.encoder.groups.0.0.attention.query.weight") == pytest.approx((0.8, 0.5 / 7))
    assert at("encoder.embeddings.token.weight") == pytest.approx((0.8**7, 0.5))
    assert at("classifier.weight") == at("encoder.pooler.dense.weight") == (1, 0)
    freeze_encoder(model)
    free = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert free == {f"{part}.{kind}" for part in ("encoder.pooler.dense", "classifier") for kind in ("weight", "bias")}


def test_muon_takes_the_shared_matrices_and_no_table():
    """The matrix from E to D has a gradient from every token: Muon's, not a table's at six times the rate."""
    model = MaskedLM(SMALL)
    adamw, muon = build_optimizers("muon", model, 1e-3, 0.01, (0.9, 0.98))
    assert isinstance(muon, Muon)
    names = {id(weight): name for name, weight in model.named_parameters()}
    of_muon = {names[id(weight)] for group in muon.param_groups for weight in group["params"]}
    layer = ("attention.query", "attention.key", "attention.value", "attention.output")
    matrices = (*layer, "feed_forward.expand", "feed_forward.shrink")
    inside = {f"encoder.encoder.groups.0.0.{matrix}.weight" for matrix in matrices}
    assert of_muon == inside | {"encoder.encoder.mapping_in.weight"}
    fast = {names[id(weight)] for group in adamw.param_groups if group["scale"] > 1 for weight in group["params"]}
    assert fast == {name for name in names.values() if name.startswith("encoder.embeddings.")}


def test_dropout_of_the_settings_reaches_the_last_layer(tmp_path):
    """dropout=0, for a run that can be repeated elsewhere, must mean no dropout at all."""
    MaskedLM(SMALL).save_pretrained(tmp_path)
    settings = FinetuningSettings(dropout=0.0)
    with pytest.warns(UserWarning, match="pooler.dense.weight, pooler.dense.bias: they start untrained"):
        model = with_new_head(TextClassifier, str(tmp_path), settings, labels=("a", "b"))
    assert all(module.p == 0 for module in model.modules() if isinstance(module, torch.nn.Dropout))
