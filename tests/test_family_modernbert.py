"""ModernBERT against `transformers`, and what is easily got wrong about it: the window, the rotation, two thetas."""

from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers
from support.family_parity import (
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

from bertedu.config import TaskConfig
from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.head import TextHead
from bertedu.family.modernbert.model import ModernBertModel
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tagging import CrfTagger, Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.question_answering import SpanFinder
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
def test_the_encoder_is_that_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(ModernBertModel, transformers.ModernBertModel, config, saved_by, tmp_path)
    assert ours.config == config  # also when it comes back under the newer names of layers and thetas
    assert_same_hidden_states(ours, theirs, padded_batch(config, length=LENGTH))


@both_ways
@every_config
def test_the_loss_over_masked_words_and_its_gradients_are_those_of_transformers(config, saved_by, tmp_path):
    batch = padded_batch(config, length=LENGTH)
    ours, theirs = twins(MaskedLM, transformers.ModernBertForMaskedLM, config, saved_by, tmp_path)
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).prediction_logits[real], theirs(**batch).logits[real], **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


@both_ways
@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("problem", ["classes", "regression"])
def test_the_head_for_texts_is_that_of_transformers(problem, pooling, saved_by, tmp_path):
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
def test_the_head_for_tokens_is_that_of_transformers(saved_by, tmp_path):
    batch = padded_batch(SHALLOW, length=LENGTH)
    classes = (Tagger, transformers.ModernBertForTokenClassification)
    ours, theirs = twins(*classes, SHALLOW, saved_by, tmp_path, TaskConfig(("O", "B-x", "I-x")))
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).logits[real], theirs(**batch).logits[real], **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=(batch["input_ids"] % 3).where(real, -100))


@both_ways
def test_the_head_for_answers_is_that_of_transformers(saved_by, tmp_path):
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
def test_the_head_for_choices_reads_no_pooler(pooling, saved_by, tmp_path):
    config = replace(SHALLOW, classifier_pooling=pooling)
    flat = padded_batch(config, length=LENGTH)
    batch = {name: torch.stack([tensor, tensor.flip(0)], dim=1) for name, tensor in flat.items()}  # [B, 2, T]
    ours, theirs = twins(ChoiceModel, transformers.ModernBertForMultipleChoice, config, saved_by, tmp_path)
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=torch.tensor([0, 1, 0]))


@pytest.mark.parametrize("model_class", [TextClassifier, Tagger, CrfTagger, SpanFinder, ChoiceModel])
def test_fine_tuning_keeps_the_trained_layer_of_the_language_model(model_class, tmp_path):
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


def test_a_mean_over_nothing_is_a_number():
    head = TextHead(replace(SMALL, classifier_pooling="mean"))
    assert head(torch.randn(2, 5, 32), torch.tensor([[0] * 5, [1] * 5])).isfinite().all()
