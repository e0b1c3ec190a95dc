"""ELMo's LSTM against torch's, and what its two directions may know."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from bertedu.before.elmo import Elmo, LanguageModel, Lstm, ScalarMix, reversed_texts

CLOSE = {"atol": 1e-5, "rtol": 1e-5}


def theirs_of(ours: Lstm, size: int) -> nn.LSTM:
    theirs = nn.LSTM(size, size, batch_first=True)
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(ours.weight_ih)
        theirs.weight_hh_l0.copy_(ours.weight_hh)
        theirs.bias_ih_l0.copy_(ours.bias)
        theirs.bias_hh_l0.zero_()
    return theirs


@pytest.mark.parametrize("size, length", [(3, 1), (8, 7), (16, 30)])
def test_the_gates_of_the_lstm_are_in_the_references_order(size, length):
    torch.manual_seed(0)
    ours = Lstm(size)
    nn.init.normal_(ours.bias)
    theirs = theirs_of(ours, size)
    inputs, weights = torch.randn(4, length, size), torch.randn(4, length, size)
    mine, their = ours(inputs), theirs(inputs)[0]
    assert_close(mine, their, **CLOSE)
    (mine * weights).sum().backward()
    (their * weights).sum().backward()
    for name in ("weight_ih", "weight_hh", "bias"):
        name_there = f"{name}_ih_l0" if name == "bias" else f"{name}_l0"
        assert_close(getattr(ours, name).grad, getattr(theirs, name_there).grad, **CLOSE)


def test_the_second_layer_adds_its_input_and_the_first_does_not():
    torch.manual_seed(0)
    model = LanguageModel(5, 2)
    vectors = torch.randn(2, 6, 5)
    first, second = (theirs_of(layer, 5) for layer in model.layers)
    one = first(vectors)[0]
    assert_close(model(vectors)[0], one, **CLOSE)
    assert_close(model(vectors)[1], second(one)[0] + one, **CLOSE)


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    mask = (torch.arange(7) < torch.tensor([[7], [4], [2]])).long()
    return torch.randint(1, 20, (3, 7), generator=torch.Generator().manual_seed(0)) * mask, mask


def test_padding_stays_last_when_a_text_is_reversed():
    ids, mask = batch()
    backwards = reversed_texts(ids, mask.sum(dim=1))
    for row, new, length in zip(ids.tolist(), backwards.tolist(), (7, 4, 2), strict=True):
        assert new == row[:length][::-1] + [0] * (7 - length)
    assert_close(reversed_texts(backwards, mask.sum(dim=1)), ids)


def elmo() -> Elmo:
    torch.manual_seed(1)
    return Elmo(20, 6).eval()


def test_the_forward_model_does_not_see_the_next_word():
    model, (ids, mask) = elmo(), batch()
    changed = ids.clone()
    changed[:, 1] = changed[:, 1] % 19 + 1
    for mine, other in zip(model.directions(ids, mask)[0], model.directions(changed, mask)[0], strict=True):
        assert_close(mine[:, :1], other[:, :1], atol=0, rtol=0)
        assert (mine[:, 1:] - other[:, 1:]).abs().amax(dim=-1)[mask[:, 1:].bool()].min() > 0


def test_the_backward_model_does_not_see_the_word_before():
    model, (ids, mask) = elmo(), batch()
    changed = ids.clone()
    changed[:, 0] = changed[:, 0] % 19 + 1
    for mine, other in zip(model.directions(ids, mask)[1], model.directions(changed, mask)[1], strict=True):
        later = mask[:, 1:].bool()
        assert_close(mine[:, 1:][later], other[:, 1:][later], atol=0, rtol=0)
        assert (mine[:, 0] - other[:, 0]).abs().amax(dim=-1).min() > 0


def test_padding_changes_nothing_in_the_backward_model():
    model, (ids, mask) = elmo(), batch()
    for row, length in enumerate((7, 4, 2)):
        alone = model.layer_vectors(ids[row : row + 1, :length], mask[row : row + 1, :length])
        for mine, other in zip(model.layer_vectors(ids, mask), alone, strict=True):
            assert_close(mine[row : row + 1, :length], other, **CLOSE)


def test_the_loss_counts_neither_padding_nor_a_word_that_predicts_itself():
    model, (ids, mask) = elmo(), batch()
    ahead, back = (states[-1] for states in model.directions(ids, mask))
    losses = []
    for row, length in enumerate((7, 4, 2)):
        for at in range(length - 1):
            losses.append(-model.decoder(ahead[row, at]).log_softmax(dim=-1)[ids[row, at + 1]])
            losses.append(-model.decoder(back[row, at + 1]).log_softmax(dim=-1)[ids[row, at]])
    assert_close(model.loss(ids, mask), torch.stack(losses).mean())


def test_the_mix_has_its_softmax_and_its_scale():
    mix, layers = ScalarMix(3), [torch.randn(2, 4) for _ in range(3)]
    assert_close(mix(layers), sum(layers) / 3)
    with torch.no_grad():
        mix.scores.copy_(torch.tensor([0.0, 1.0, 2.0]).log().clamp_min(-99))
        mix.scale.fill_(6.0)
    assert_close(mix(layers), 2 * layers[1] + 4 * layers[2])
