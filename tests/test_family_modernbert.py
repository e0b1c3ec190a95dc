"""ModernBERT against `transformers`, and what is easily got wrong about it: the window, the rotation, two thetas."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers
from family_parity import (
    CLOSE,
    DIRECTIONS,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    twins,
)
from torch import nn
from torch.testing import assert_close

from bertedu import UserError
from bertedu.config import TaskConfig
from bertedu.family.modernbert.attention import local_bias
from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.head import TextHead
from bertedu.family.modernbert.model import MODERNBERT, ModernBertModel
from bertedu.family.modernbert.rope import rotate, rotation
from bertedu.family.modernbert.unpadding import encode_unpadded, unpad
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.multiple_choice import ChoiceModel
from bertedu.finetuning.question_answering import SpanFinder
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tagging import CrfTagger, Tagger
from bertedu.model.heads import MaskedLM

LENGTH = 40  # tokens in the longest text: several windows


def small(*sizes: Any, **changes: Any) -> ModernBertConfig:
    """A config with a window shorter than the texts, and thetas at which the two kinds of layers differ visibly."""
    short = {"pad_token_id": 3, "local_attention": 8, "global_rope_theta": 300.0, "local_rope_theta": 20.0}
    return ModernBertConfig(*sizes, **{**short, **changes})


CONFIGS = {
    "usual proportions": small(97, 32, 5, 4, 48),
    "one layer, one head": small(40, 8, 1, 1, 8, pad_token_id=0),
    "every second layer global, tanh GELU": small(64, 24, 4, 3, 40, "gelu_new", global_attn_every_n_layers=2),
    "all layers global, narrow feed-forward": small(50, 48, 3, 12, 20, global_attn_every_n_layers=1, pad_token_id=49),
    "one global layer of six, odd window": small(71, 16, 6, 2, 40, global_attn_every_n_layers=6, local_attention=5),
    "published thetas, each token sees itself alone": small(
        33, 64, 2, 8, 96, local_attention=1, global_rope_theta=160_000.0, local_rope_theta=10_000.0, layer_norm_eps=1e-3
    ),
}
SMALL = CONFIGS["usual proportions"]
SHALLOW = small(60, 16, 3, 2, 24)  # for the heads: few layers, so that rounding has nowhere to add up
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


@both_ways
@every_config
def test_an_encoder_differs_from_that_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(ModernBertModel, transformers.ModernBertModel, config, saved_by, tmp_path)
    assert ours.config == config  # also when it comes back under the newer names of layers and thetas
    assert_same_hidden_states(ours, theirs, padded_batch(config, length=LENGTH))


@both_ways
@every_config
def test_the_loss_over_masked_words_or_its_gradients_differ(config, saved_by, tmp_path):
    batch = padded_batch(config, length=LENGTH)
    ours, theirs = twins(MaskedLM, transformers.ModernBertForMaskedLM, config, saved_by, tmp_path)
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).prediction_logits[real], theirs(**batch).logits[real], **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


@both_ways
@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("problem", ["classes", "regression"])
def test_the_head_for_texts_reads_something_else(problem, pooling, saved_by, tmp_path):
    """[CLS] or the mean of real tokens, pooled before dense, GELU and norm, and not after them."""
    task = TaskConfig(("a", "b", "c")) if problem == "classes" else TaskConfig(("score",), "regression")
    labels = torch.tensor([0, 2, 1]) if problem == "classes" else torch.tensor([0.5, -1.0, 2.0])
    config = replace(SHALLOW, classifier_pooling=pooling)
    batch = padded_batch(config, length=LENGTH)
    classes = (TextClassifier, transformers.ModernBertForSequenceClassification)
    ours, theirs = twins(*classes, config, saved_by, tmp_path, task)
    assert ours.config.classifier_pooling == theirs.config.classifier_pooling == pooling
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_close(ours(batch["input_ids"]).logits, theirs(batch["input_ids"]).logits, **CLOSE)  # without a mask
    assert_same_loss(ours, theirs, batch, labels=labels)


@both_ways
def test_the_head_for_tokens_is_a_linear_layer_alone(saved_by, tmp_path):
    batch = padded_batch(SHALLOW, length=LENGTH)
    classes = (Tagger, transformers.ModernBertForTokenClassification)
    ours, theirs = twins(*classes, SHALLOW, saved_by, tmp_path, TaskConfig(("O", "B-x", "I-x")))
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).logits[real], theirs(**batch).logits[real], **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=(batch["input_ids"] % 3).where(real, -100))


@both_ways
def test_the_head_for_answers_is_a_linear_layer_alone(saved_by, tmp_path):
    batch = padded_batch(SHALLOW, length=LENGTH)
    ours, theirs = twins(SpanFinder, transformers.ModernBertForQuestionAnswering, SHALLOW, saved_by, tmp_path)
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).start_logits[real], theirs(**batch).start_logits[real], **CLOSE)
    assert_close(ours(**batch).end_logits[real], theirs(**batch).end_logits[real], **CLOSE)
    # The loss is over all tokens, and the scores of padding are nobody's: only the longest text is asked.
    whole = {name: tensor[:1] for name, tensor in batch.items()}
    ends = {"start_positions": torch.tensor([3]), "end_positions": torch.tensor([25])}
    assert_same_loss(ours, theirs, whole, **ends)


@both_ways
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_head_for_choices_reads_a_pooler(pooling, saved_by, tmp_path):
    config = replace(SHALLOW, classifier_pooling=pooling)
    flat = padded_batch(config, length=LENGTH)
    batch = {name: torch.stack([tensor, tensor.flip(0)], dim=1) for name, tensor in flat.items()}  # [B, 2, T]
    ours, theirs = twins(ChoiceModel, transformers.ModernBertForMultipleChoice, config, saved_by, tmp_path)
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=torch.tensor([0, 1, 0]))


@pytest.mark.parametrize("model_class", [TextClassifier, Tagger, CrfTagger, SpanFinder, ChoiceModel])
def test_fine_tuning_throws_the_trained_layer_of_the_language_model_away(model_class, tmp_path):
    """On disk it has one name in all models, so that `transformers` starts a task with it. A task's own is not kept."""
    trained = MaskedLM(SMALL)
    nn.init.normal_(trained.masked_lm.norm.weight)
    trained.save_pretrained(tmp_path / "trained")
    task = {"labels": ("O", "B-x", "I-x")}
    model = with_new_head(model_class, str(tmp_path / "trained"), FinetuningSettings(), **task)
    assert torch.equal(model.transform.dense.weight, trained.masked_lm.dense.weight)
    assert torch.equal(model.transform.norm.weight, trained.masked_lm.norm.weight)
    model.save_pretrained(tmp_path / "task")
    again = with_new_head(model_class, str(tmp_path / "task"), FinetuningSettings(), **task)
    assert not torch.equal(again.transform.dense.weight, trained.masked_lm.dense.weight)
    assert torch.equal(again.encoder.final_norm.weight, model.encoder.final_norm.weight)


def test_the_window_is_one_token_too_narrow_or_too_wide():
    """local_attention 4 by hand: two tokens on each side, the second of them still seen."""
    bias = local_bias(torch.arange(6), 4, None, torch.float32)
    seen = torch.tensor(
        [
            [1, 1, 1, 0, 0, 0],
            [1, 1, 1, 1, 0, 0],
            [1, 1, 1, 1, 1, 0],
            [0, 1, 1, 1, 1, 1],
            [0, 0, 1, 1, 1, 1],
            [0, 0, 0, 1, 1, 1],
        ]
    )
    assert torch.equal((bias == 0).long(), seen)


@torch.no_grad()
def test_the_wrong_layers_are_local():
    """Layers 0 and 3 of 5 attend to the whole text, and the farthest pair that a local layer knows is 4 apart."""
    output = ModernBertModel(SMALL).eval()(torch.arange(10, 50)[None], output_attentions=True)
    farthest = [max(i - j for _, _, i, j in (weights > 0).nonzero().tolist()) for weights in output.attentions]
    assert farthest == [39, 4, 4, 39, 4]


def test_a_pair_is_two_neighbours():
    """By hand, d = 4, theta = 100, position 2: entries 0 and 2 turn by 2 radians, 1 and 3 by 2/10."""
    turned = rotate(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), rotation(torch.tensor([2]), 4, 100.0))
    cosine, sine, cosine_slow, sine_slow = math.cos(2), math.sin(2), math.cos(0.2), math.sin(0.2)
    expected = [
        1 * cosine - 3 * sine,
        2 * cosine_slow - 4 * sine_slow,
        3 * cosine + 1 * sine,
        4 * cosine_slow + 2 * sine_slow,
    ]
    assert_close(turned, torch.tensor([expected]))


def test_a_score_depends_on_where_and_not_on_how_far():
    torch.manual_seed(0)
    query, key = torch.randn(2, 1, 16).double()

    def score(at: int, other: int) -> float:
        here, there = (rotation(torch.tensor([position]), 16, 10_000.0) for position in (at, other))
        return (rotate(query, here) * rotate(key, there)).sum().item()

    assert score(7, 3) == pytest.approx(score(1004, 1000), abs=1e-4) and score(7, 3) != pytest.approx(score(3, 7))


@torch.no_grad()
def test_all_layers_turn_at_one_speed(tmp_path):
    """Each theta alone changes what its layers say: the global one from the first layer, the local from the second."""
    ours = ModernBertModel(SMALL).eval()
    for parameter in ours.parameters():
        nn.init.normal_(parameter)
    ids = torch.arange(10, 30)[None]
    before = ours(ids, output_hidden_states=True).hidden_states
    for name, first in (("global_rope_theta", 1), ("local_rope_theta", 2)):
        ours.config = replace(SMALL, **{name: 77.0})
        after = ours(ids, output_hidden_states=True).hidden_states
        assert [torch.equal(old, new) for old, new in zip(before, after, strict=True)].index(False) == first


def test_the_first_layer_normalises_twice_or_a_bias_is_left():
    names = dict(MaskedLM(SMALL).named_parameters())
    norms = [name for name in names if "attention_norm" in name]
    assert norms == [f"encoder.layers.{layer}.attention_norm.weight" for layer in (1, 2, 3, 4)]
    assert [name for name in names if name.endswith("bias")] == ["masked_lm.decoder.bias"]


@torch.no_grad()
def test_padding_far_from_any_word_becomes_nan_in_float16():
    """A window that holds nothing but padding: both reasons to hide it together must not overflow."""
    model = ModernBertModel(replace(SMALL, hidden_size=16)).half().eval()
    ids = torch.arange(10, 50)[None]
    mask = (torch.arange(40) < 5).long()[None]
    whole = model(ids, mask).last_hidden_state
    assert whole.isfinite().all()
    assert_close(whole[:, :5], model(ids[:, :5]).last_hidden_state, atol=1e-2, rtol=1e-2)


@torch.no_grad()
def test_a_text_longer_than_those_of_training_is_refused(tmp_path):
    """There is no table of positions that ends; segments mean nothing, and a tokenizer may mark them all the same."""
    config = replace(SMALL, max_position_embeddings=8)
    ours, theirs = twins(ModernBertModel, transformers.ModernBertModel, config, "ours", tmp_path)
    ids = torch.arange(10, 50)[None]
    assert_close(ours(ids).last_hidden_state, theirs(ids).last_hidden_state, **CLOSE)
    assert torch.equal(ours(ids, token_type_ids=torch.ones_like(ids)).last_hidden_state, ours(ids).last_hidden_state)
    with pytest.raises(UserError, match="token id 97 is outside this model's vocabulary of 97"):
        ours(torch.tensor([[5, 97]]))
    with pytest.raises(UserError, match="attention_mask has the shape"):
        ours(ids, torch.ones(1, 1))


@pytest.mark.parametrize("saved_by", DIRECTIONS)
def test_a_weight_starts_at_another_scale(saved_by):
    """The published standard deviations by hand; drawn here, and in `transformers`, where the same test must hold."""
    config = small(500, 256, 3, 4, 384)
    task = TaskConfig(tuple("abcdefgh"))
    if saved_by == "ours":
        model = TextClassifier.from_config(config, task)
        weights = {
            MODERNBERT.to_transformers(name, "encoder", model.kind): weight
            for name, weight in model.named_parameters()
            if weight.dim() == 2
        }
    else:
        sizes = {"vocab_size": 500, "hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4}
        published = transformers.ModernBertConfig(**sizes, intermediate_size=384, pad_token_id=3, num_labels=8)
        model = transformers.ModernBertForSequenceClassification(published)
        weights = {name: weight for name, weight in model.named_parameters() if weight.dim() == 2}
    assert len(weights) == 1 + 3 * 4 + 2
    for name, weight in weights.items():
        small_start = name.endswith("Wo.weight") or name == "head.dense.weight"
        deviation = 1 / 16 if name == "classifier.weight" else 0.02 / math.sqrt(6) if small_start else 0.02
        assert weight.abs().max() <= 2 * deviation * 1.0001, name
        assert weight.std().item() == pytest.approx(0.8796 * deviation, rel=0.05), name


@pytest.mark.parametrize(
    "mask",
    [
        [[1] * 40, [1] * 7 + [0] * 33, [1, 1] + [0] * 38],
        [[0] * 12 + [1] * 28, [1] * 40, [0] * 39 + [1]],
        [[1] * 10 + [0] * 3 + [1] * 27, [0, 1] * 20, [1] * 39 + [0]],
    ],
    ids=["padded at the end", "padded at the start", "gaps"],
)
def test_a_batch_without_its_padding_computes_something_else(mask):
    """A text must not attend to its neighbours in the long sequence, and its window must count its own positions."""
    mask = torch.tensor(mask)
    model = ModernBertModel(SMALL).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    ids = torch.randint(8, SMALL.vocab_size, mask.shape, generator=torch.Generator().manual_seed(0))
    real = mask.bool()
    tokens = unpad(ids, mask)
    assert tokens.input_ids.tolist() == ids[real].tolist() and tokens.texts.bincount().tolist() == mask.sum(1).tolist()
    weights, gradients = torch.randn(3, 40, SMALL.hidden_size), []
    for vectors in (model(ids, mask).last_hidden_state, encode_unpadded(model, ids, mask)):
        (vectors * weights)[real].sum().backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
        model.zero_grad()
    assert_close(encode_unpadded(model, ids, mask)[real], model(ids, mask).last_hidden_state[real], **CLOSE)
    assert not encode_unpadded(model, ids, mask)[~real].any()
    for padded, unpadded in zip(*gradients, strict=True):
        assert_close(unpadded, padded, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "name",
    ["hidden_dropout_prob", "attention_probs_dropout_prob", "embedding_dropout", "classifier_dropout"],
)
def test_a_dropout_of_the_config_does_nothing(name):
    """Each alone makes training random, also that before the last layer of question answering."""
    for model_class in (TextClassifier, SpanFinder):
        model = model_class.from_config(replace(SMALL, **{name: 0.5}), TaskConfig(("a", "b"))).train()
        first, second = (model(torch.arange(10, 30)[None]) for _ in range(2))
        outputs = ("logits",) if model_class is TextClassifier else ("start_logits", "end_logits")
        assert any(not torch.equal(getattr(first, output), getattr(second, output)) for output in outputs), model_class
    quiet = TextClassifier.from_config(SMALL, TaskConfig(("a", "b"))).train()
    assert torch.equal(quiet(torch.arange(10, 30)[None]).logits, quiet(torch.arange(10, 30)[None]).logits)


def test_the_defaults_are_not_the_published_ones(tmp_path):
    """Those of the class in `transformers`, which are ModernBERT-base's, as it writes them today."""
    transformers.ModernBertConfig().save_pretrained(tmp_path)
    assert ModernBertConfig.load(tmp_path) == ModernBertConfig() == ModernBertConfig.preset("base")
    large = ModernBertConfig.preset("large")
    sizes = {"num_hidden_layers": 28, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 2624}
    transformers.ModernBertConfig(**sizes).save_pretrained(tmp_path)
    assert ModernBertConfig.load(tmp_path) == large
    assert ModernBertConfig.preset("tiny").intermediate_size == 192


def test_the_published_models_have_another_number_of_weights():
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


def test_older_or_newer_names_on_disk_go_unread(tmp_path):
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


def test_two_layers_forget_their_interval(tmp_path):
    """Two layers cannot tell every second from every third: what was saved comes back, and base's three without it."""
    layers = ["full_attention", "sliding_attention"]
    entries = {"num_hidden_layers": 2, "layer_types": layers}
    assert config_on_disk(tmp_path, **entries).global_attn_every_n_layers == 3
    assert config_on_disk(tmp_path, **entries, global_attn_every_n_layers=5).global_attn_every_n_layers == 5


def test_what_is_left_of_the_config_of_a_bert_is_believed(tmp_path):
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
def test_a_config_that_means_something_else_is_read(entries, said, tmp_path):
    with pytest.raises(UserError, match=rf"config\.json: .*{said}"):
        config_on_disk(tmp_path, **entries)


def test_a_mean_over_nothing_is_nan():
    head = TextHead(replace(SMALL, classifier_pooling="mean"))
    assert head(torch.randn(2, 5, 32), torch.tensor([[0] * 5, [1] * 5])).isfinite().all()
