"""DistilBERT against `transformers`, and the student that starts from layers of its teacher."""

import pytest
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
from torch.testing import assert_close

from bertedu.family.distilbert import DistilBertConfig, DistilBertModel
from bertedu.model.heads import MaskedLM

CONFIGS = {
    "one layer, one head, no position to spare": DistilBertConfig(40, 8, 1, 1, 8, max_position_embeddings=12),
    "usual proportions": DistilBertConfig(97, 32, 2, 4, 128, max_position_embeddings=24),
    "tanh GELU": DistilBertConfig(64, 24, 3, 3, 96, "gelu_new", max_position_embeddings=16),
    "narrow feed-forward, many heads": DistilBertConfig(50, 48, 2, 12, 20, max_position_embeddings=16),
    "deep, padding is 7": DistilBertConfig(71, 16, 6, 2, 40, max_position_embeddings=20, pad_token_id=7),
    "wide": DistilBertConfig(33, 64, 1, 8, 256, max_position_embeddings=30),
}
SMALL = CONFIGS["usual proportions"]
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


@both_ways
@every_config
def test_an_encoder_differs_from_that_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(DistilBertModel, transformers.DistilBertModel, config, saved_by, tmp_path)
    assert_same_hidden_states(ours, theirs, padded_batch(config))


@both_ways
@every_config
def test_the_loss_over_masked_words_or_its_gradients_differ(config, saved_by, tmp_path):
    batch = padded_batch(config)
    ours, theirs = twins(MaskedLM, transformers.DistilBertForMaskedLM, config, saved_by, tmp_path)
    assert_close(ours(**batch).prediction_logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))
