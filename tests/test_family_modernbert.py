"""ModernBERT against `transformers`, and what is easily got wrong about it: the window, the rotation, two thetas."""

from typing import Any

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

from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.model import ModernBertModel
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
