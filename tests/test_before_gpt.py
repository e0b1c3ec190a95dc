"""GPT against GPT2Model and GPT2LMHeadModel of `transformers`: several sizes, with padding, outputs and gradients."""

import math

import pytest
import torch
from support.family_parity import CLOSE, perturbed
from torch.testing import assert_close
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model

from bertedu import UserError
from bertedu.before.gpt import Gpt, GptConfig, from_transformers

CONFIGS = {
    "one layer, one head": GptConfig(40, 8, 1, 1, 32, max_position_embeddings=12),
    "three layers": GptConfig(60, 24, 3, 4, 96, max_position_embeddings=20),
    "narrow feed-forward, exact GELU": GptConfig(50, 16, 2, 2, 20, hidden_act="gelu", layer_norm_eps=1e-3),
}
CASES = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def pair(config: GptConfig, kind=GPT2LMHeadModel):
    torch.manual_seed(1)
    theirs = GPT2Config(
        vocab_size=config.vocab_size,
        n_embd=config.hidden_size,
        n_layer=config.num_hidden_layers,
        n_head=config.num_attention_heads,
        n_inner=config.intermediate_size,
        n_positions=config.max_position_embeddings,
        activation_function=config.hidden_act,
        layer_norm_epsilon=config.layer_norm_eps,
        attn_implementation="eager",
    )
    model = perturbed(kind(theirs))
    return from_transformers(model.state_dict(), config), model


def batch(config: GptConfig, side: str = "right") -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    mask = (torch.arange(12) < torch.tensor([[12], [7], [2]])).long()
    mask = mask.flip(1) if side == "left" else mask
    return {"input_ids": torch.randint(config.vocab_size, (3, 12), generator=generator), "attention_mask": mask}


@CASES
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("explicit", [True, False], ids=["explicit", "fused"])
def test_hidden_states_are_those_of_transformers(config, side, explicit):
    ours, theirs = pair(config, GPT2Model)
    inputs = batch(config, side)
    real = inputs["attention_mask"].bool()
    positions = torch.arange(12).expand(3, 12)  # transformers would count them from the first real token
    expected = theirs(**inputs, position_ids=positions, output_hidden_states=True, output_attentions=True)
    output = ours(**inputs, output_attentions=explicit)
    assert len(output.hidden_states) == len(expected.hidden_states) == config.num_hidden_layers + 1
    for mine, their in zip(output.hidden_states, expected.hidden_states, strict=True):
        assert_close(mine[real], their[real], **CLOSE)
    assert_close(output.last_hidden_state[real], expected.last_hidden_state[real], **CLOSE)
    for mine, their in zip(output.attentions, expected.attentions if explicit else (), strict=True):
        assert_close(mine.transpose(1, 2)[real], their.transpose(1, 2)[real], **CLOSE)


@CASES
def test_the_loss_predicts_the_next_word(config):
    ours, theirs = pair(config)
    inputs = batch(config)
    labels = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)
    output, expected = ours(**inputs, labels=labels), theirs(**inputs, labels=labels)
    real = inputs["attention_mask"].bool()
    assert_close(output.logits[real], expected.logits[real], **CLOSE)
    assert_close(output.loss, expected.loss, **CLOSE)


@CASES
def test_gradients_are_those_of_transformers(config):
    ours, theirs = pair(config)
    inputs = batch(config)
    labels = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)
    ours(**inputs, labels=labels).loss.backward()
    theirs(**inputs, labels=labels).loss.backward()
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    as_ours = from_transformers(gradients, config)
    for (name, mine), (_, their) in zip(ours.named_parameters(), as_ours.named_parameters(), strict=True):
        assert_close(mine.grad, their.data, **CLOSE, msg=lambda text, name=name: f"{name}: {text}")


def test_a_later_word_does_not_leak_into_an_earlier_one():
    config = CONFIGS["three layers"]
    ours = perturbed(Gpt(config))
    ids = batch(config)["input_ids"]
    changed = ids.clone()
    changed[:, 6] = (changed[:, 6] + 1) % config.vocab_size
    for mine, other in zip(ours(ids).hidden_states, ours(changed).hidden_states, strict=True):
        assert_close(mine[:, :6], other[:, :6], atol=0, rtol=0)
        assert (mine[:, 6] - other[:, 6]).abs().amax(dim=-1).min() > 0
    assert (ours(ids).last_hidden_state - ours(changed).last_hidden_state)[:, 7:].abs().amax(dim=-1).min() > 0


def test_what_writes_into_the_sum_starts_smaller_than_the_rest():
    torch.manual_seed(0)
    model = Gpt(GptConfig(100, 64, 8, 4, 256))
    assert_close(model.layers[0].feed_forward.shrink.weight.std().item(), 0.02 / math.sqrt(16), rtol=0.05, atol=0)
    assert_close(model.layers[0].attention.query.weight.std().item(), 0.02, rtol=0.05, atol=0)
    with torch.no_grad():
        assert model(torch.randint(100, (4, 30))).logits.std() < 0.3  # near to uniform


def test_a_text_longer_than_the_positions_is_refused_at_once():
    config = CONFIGS["one layer, one head"]
    with pytest.raises(UserError, match="13 tokens and this model 12 positions"):
        Gpt(config)(torch.zeros(1, 13, dtype=torch.long))
    with pytest.raises(UserError, match="labels"):
        Gpt(config)(torch.zeros(1, 3, dtype=torch.long), labels=torch.zeros(1, 2, dtype=torch.long))
