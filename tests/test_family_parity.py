"""The parity tests themselves, on BERT: do they see a difference?"""

import pytest
import torch
import transformers
from support.family_parity import (
    DIRECTIONS,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    twins,
)

from bertedu import BertConfig, BertForMaskedLM, BertModel
from bertedu.config import TaskConfig
from bertedu.finetuning.classification import TextClassifier

CONFIG = BertConfig(60, 16, 2, 4, 24, max_position_embeddings=14)


@pytest.mark.parametrize("saved_by", DIRECTIONS)
def test_equal_models_are_called_equal(saved_by, tmp_path):
    batch = padded_batch(CONFIG, segments=2)
    assert_same_hidden_states(*twins(BertModel, transformers.BertModel, CONFIG, saved_by, tmp_path), batch)
    masked = twins(BertForMaskedLM, transformers.BertForMaskedLM, CONFIG, saved_by, tmp_path / "masked")
    assert_same_loss(*masked, batch, labels=masked_labels(batch))
    task = TaskConfig(("a", "b", "c"))
    classes = (TextClassifier, transformers.BertForSequenceClassification)
    of_task = twins(*classes, CONFIG, saved_by, tmp_path / "task", task)
    assert_same_loss(*of_task, batch, labels=torch.tensor([0, 2, 1]))


@pytest.mark.parametrize("name", ["encoder.layers.1.attention.value.bias", "embeddings.position.weight"])
def test_a_weight_that_differs_is_seen(name, tmp_path):
    batch = padded_batch(CONFIG, segments=2)
    ours, theirs = twins(BertModel, transformers.BertModel, CONFIG, "ours", tmp_path)
    with torch.no_grad():
        ours.get_parameter(name).view(-1)[3] += 1e-2
    with pytest.raises(AssertionError):
        assert_same_hidden_states(ours, theirs, batch)
