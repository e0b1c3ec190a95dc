"""XLNet: the same as `transformers`' XLNet, in both directions, and each of its traps."""

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
from torch import Tensor
from torch.testing import assert_close

from bertedu.family.xlnet import XLNetConfig, XLNetLMHeadModel, XLNetModel

# Vocabulary, hidden size, layers, heads, feed-forward.
CONFIGS = [
    XLNetConfig(60, 16, 2, 4, 24),
    XLNetConfig(41, 24, 1, 2, 40, hidden_act="gelu_new"),
    XLNetConfig(50, 12, 3, 3, 20, layer_norm_eps=1e-5),
    XLNetConfig(70, 10, 2, 1, 16, pad_token_id=0),
    XLNetConfig(33, 8, 4, 4, 9, initializer_range=0.5),
    XLNetConfig(90, 32, 2, 2, 12, pad_token_id=7, hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.3),
]
every_config = pytest.mark.parametrize("config", CONFIGS)
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)
SMALL = CONFIGS[0]


def of_transformers(kind: str):
    return getattr(transformers, f"XLNet{kind}")


@both_ways
@every_config
def test_xlnet_computes_something_else(config, saved_by, tmp_path):
    """Three segments, since <cls> has one of its own; `transformers` keeps a memory beside, which changes nothing."""
    ours, theirs = twins(XLNetModel, of_transformers("Model"), config, saved_by, tmp_path)
    assert theirs.config.mem_len == 512
    assert_same_hidden_states(ours, theirs, padded_batch(config, segments=3))
    assert_same_hidden_states(ours, theirs, padded_batch(config))


@both_ways
@every_config
def test_words_are_predicted_otherwise(config, saved_by, tmp_path):
    ours, theirs = twins(XLNetLMHeadModel, of_transformers("LMHeadModel"), config, saved_by, tmp_path)
    batch = padded_batch(config, segments=3)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


def order_of_prediction(batch: dict[str, Tensor], predicted: int = 3) -> tuple[dict[str, Tensor], Tensor]:
    """A random order for each text: its last few tokens are predicted. The mask and the mapping, and the right words.

    Texts of fewer tokens predict one: their other rows are zeros, and have no label.
    """
    generator = torch.Generator().manual_seed(4)
    ids, lengths = batch["input_ids"], batch["attention_mask"].sum(dim=1).tolist()
    rows, length = ids.shape
    perm_mask, mapping = torch.zeros(rows, length, length), torch.zeros(rows, predicted, length)
    labels = torch.full((rows, predicted), -100)
    for row, real in enumerate(lengths):
        order = torch.randperm(real, generator=generator)
        when = torch.empty(real, dtype=torch.long)
        when[order] = torch.arange(real)
        first = real - min(predicted, real - 1)  # what is predicted comes last in the order
        of_target = when >= first
        perm_mask[row, :real, :real] = (of_target & (when[:, None] <= when)).float()
        for number, place in enumerate(order[first:].tolist()):
            mapping[row, number, place] = 1
            labels[row, number] = (ids[row, place] + 3) % 30
    return {**batch, "perm_mask": perm_mask, "target_mapping": mapping}, labels


@both_ways
@every_config
def test_the_two_streams_see_something_else(config, saved_by, tmp_path):
    """Loss and every gradient, that of the query stream's first vector too, and the content stream's hidden states."""
    ours, theirs = twins(XLNetLMHeadModel, of_transformers("LMHeadModel"), config, saved_by, tmp_path)
    batch, labels = order_of_prediction(padded_batch(config, segments=3))
    assert_same_loss(ours, theirs, batch, labels=labels)
    assert ours.encoder.mask_embedding.grad.abs().max() > 1e-3
    output = ours(**batch, output_hidden_states=True, output_attentions=True)
    expected = theirs(**batch, output_hidden_states=True, output_attentions=True)
    assert_close(output.prediction_logits, expected.logits, **CLOSE)
    for mine, their in zip(output.hidden_states, expected.hidden_states[::2], strict=True):  # every second: queries
        assert_close(mine, their, **CLOSE)
    for mine, (their, _) in zip(output.attentions, expected.attentions, strict=True):
        assert_close(mine, their, **CLOSE)
