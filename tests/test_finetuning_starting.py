"""Where fine-tuning starts: what is taken over from a checkpoint, and what must not be."""

import warnings

import pytest
import torch

from bertedu.config import BertConfig, TaskConfig
from bertedu.finetuning.classification import BertForSequenceClassification
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tagging import BertForTokenClassification
from bertedu.model import BertForMaskedLM, BertForPreTraining

SETTINGS = FinetuningSettings()


@pytest.fixture
def finetuned(tmp_path):
    """The folder of a model that tells three classes apart."""
    task_config = TaskConfig(("a", "b", "c"), no_answer_threshold=2.0)
    BertForSequenceClassification.from_config(BertConfig(20, 16, 2, 2, 32), task_config).save_pretrained(tmp_path)
    return str(tmp_path)


def test_the_head_of_another_task_is_left_behind(finetuned):
    old = BertForSequenceClassification.from_pretrained(finetuned)
    for labels in (("x", "y", "z"), ("x", "y", "z", "w")):
        heads = []
        for seed in (0, 1):
            torch.manual_seed(seed)
            model = with_new_head(BertForSequenceClassification, finetuned, SETTINGS, labels=labels)
            heads.append(model.classifier.weight)
            assert model.task_config.labels == labels and model.task_config.no_answer_threshold == 0.0
            body = model.bert.state_dict()
            assert all(torch.equal(value, body[name]) for name, value in old.bert.state_dict().items())
        assert not torch.equal(*heads) and not any(torch.equal(old.classifier.weight, head) for head in heads)
    assert with_new_head(BertForTokenClassification, finetuned, SETTINGS, labels=("O",)).classifier.out_features == 1


def test_the_weights_of_pretraining_are_kept(tmp_path):
    before = BertForPreTraining(BertConfig(20, 16, 2, 2, 32))
    before.save_pretrained(tmp_path)
    model = with_new_head(BertForSequenceClassification, str(tmp_path), SETTINGS, labels=("x", "y"))
    body = model.bert.state_dict()
    assert body.keys() == before.bert.state_dict().keys()
    assert all(torch.equal(value, body[name]) for name, value in before.bert.state_dict().items())
    assert not model.training


def test_a_pooler_at_random_is_told(tmp_path):
    """A model that only fills in masks has none, and the classifier reads it by default."""
    BertForMaskedLM(BertConfig(20, 16, 2, 2, 32)).save_pretrained(tmp_path)
    with pytest.warns(UserWarning, match=r"lacks pooler.dense.weight, pooler.dense.bias: they start untrained"):
        with_new_head(BertForSequenceClassification, str(tmp_path), SETTINGS, labels=("x", "y"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_new_head(BertForSequenceClassification, str(tmp_path), SETTINGS, labels=("x", "y"), pooling="mean")
        with_new_head(BertForTokenClassification, str(tmp_path), SETTINGS, labels=("O",))
