"""ALBERT against `transformers`, and what is easily got wrong about it: who shares which weights, and where E is D."""

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

from bertedu.family.albert import AlbertConfig, AlbertModel
from bertedu.model.heads import MaskedLM


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
def test_an_encoder_differs_from_that_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(AlbertModel, transformers.AlbertModel, config, saved_by, tmp_path)
    batch = padded_batch(config, segments=config.type_vocab_size)
    assert_same_hidden_states(ours, theirs, batch)
    assert_close(ours(**batch).pooler_output, theirs(**batch).pooler_output, **CLOSE)


@both_ways
@every_config
def test_the_loss_over_masked_words_or_its_gradients_differ(config, saved_by, tmp_path):
    """The gradient of a shared weight is the sum over all layers that use it."""
    batch = padded_batch(config, segments=config.type_vocab_size)
    ours, theirs = twins(MaskedLM, transformers.AlbertForMaskedLM, config, saved_by, tmp_path)
    assert_close(ours(**batch).prediction_logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))
