"""Attention and padding: who looks at whom, and that padding is as if it were not there."""

import math

import pytest
import torch
from torch.testing import assert_close

from bertedu import BertConfig, BertForPreTraining, BertModel
from bertedu.model.attention import SelfAttention, attend, padding_bias

CONFIG = BertConfig(60, 32, 3, 4, 64, max_position_embeddings=16, initializer_range=0.3)


@pytest.fixture
def model() -> BertModel:
    torch.manual_seed(0)
    return BertModel(CONFIG).eval()


def texts(lengths: tuple[int, ...], width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random ids and the mask for texts of these lengths, padded to width."""
    mask = (torch.arange(width) < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(1, CONFIG.vocab_size, mask.shape, generator=torch.Generator().manual_seed(1))
    return ids * mask, mask


def test_scores_are_divided_by_root_d():
    query = torch.tensor([[[[1.0, 0.0, 0.0, 0.0]]]])
    key = torch.tensor([[[[2.0, 0.0, 0.0, 0.0], [0.0, 5.0, 0.0, 0.0]]]])
    value = torch.tensor([[[[10.0], [20.0]]]])
    mixed, weights = attend(query, key, value)  # scores 2/√4 = 1 and 0
    share = math.e / (math.e + 1)
    assert_close(weights, torch.tensor([[[[share, 1 - share]]]]))
    assert_close(mixed, torch.tensor([[[[10 * share + 20 * (1 - share)]]]]))


def test_rows_of_attention_sum_to_one(model):
    ids, mask = texts((9, 4), 9)
    for weights in model(ids, mask, output_attentions=True).attentions:
        assert weights.shape == (2, 4, 9, 9)
        assert_close(weights.sum(dim=-1), torch.ones(2, 4, 9))


def test_padding_is_not_attended_to(model):
    ids, mask = texts((9, 4), 9)
    for weights in model(ids, mask, output_attentions=True).attentions:
        assert (weights[1, :, :, 4:] == 0).all()
        assert (weights[1, :, :, :4] > 0).all()


@pytest.mark.parametrize("explicit", [True, False])
def test_padding_changes_no_real_token(model, explicit):
    model = model.double()  # single precision rounds in the sixth decimal already
    ids, mask = texts((6, 6), 6)
    alone = model(ids, output_attentions=explicit)
    wider = torch.nn.functional.pad(ids, (0, 10), value=33)  # even when padding is filled with another word
    wider_mask = torch.nn.functional.pad(mask, (0, 10))
    padded = model(wider, wider_mask, output_attentions=explicit)
    assert_close(padded.last_hidden_state[:, :6], alone.last_hidden_state, atol=1e-12, rtol=0)
    assert_close(padded.pooler_output, alone.pooler_output, atol=1e-12, rtol=0)


@pytest.mark.parametrize("explicit", [True, False])
def test_padding_gets_no_gradient(model, explicit):
    ids, mask = texts((6, 3), 6)
    vectors = model.embeddings(ids).detach().requires_grad_()
    hidden_states, _ = model.encoder(vectors, padding_bias(mask, vectors.dtype), output_attentions=explicit)
    hidden_states[-1][mask == 1].square().sum().backward()
    assert (vectors.grad[mask == 0] == 0).all()
    assert (vectors.grad[mask == 1] != 0).all()


def test_the_pad_embedding_does_not_learn():
    torch.manual_seed(0)
    model = BertModel(CONFIG)
    ids, mask = texts((6, 3), 6)
    model(ids, mask).last_hidden_state.square().sum().backward()
    assert (model.embeddings.token.weight.grad[CONFIG.pad_token_id] == 0).all()


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("kind", ["float32", "bfloat16 autocast", "float16"])
def test_a_text_that_is_all_padding_gives_numbers(explicit, kind):
    torch.manual_seed(0)
    model = BertModel(CONFIG).eval()
    with torch.no_grad():  # scores far below zero: added to the smallest float16 they would leave its range
        for layer in model.encoder.layers:
            layer.attention.query.bias.fill_(12.0)
            layer.attention.key.bias.fill_(-12.0)
    model = model.half() if kind == "float16" else model
    ids, mask = texts((6, 0), 6)
    with torch.autocast("cpu", torch.bfloat16, enabled=kind == "bfloat16 autocast"):
        output = model(ids, mask, output_attentions=explicit, output_hidden_states=True)
    for hidden_states in output.hidden_states:
        assert hidden_states.isfinite().all()


def test_the_mask_stays_finite_when_autocast_shortens_it():
    """Autocast turns a float32 mask into float16, where its smallest number would be -inf."""
    with torch.autocast("cpu", torch.float16):
        bias = padding_bias(torch.tensor([[1, 0]]), torch.float32)
    assert bias.dtype == torch.float16
    assert bias[0, 0, 0, 0] == 0 and -40_000 < bias[0, 0, 0, 1] < -20_000


def test_the_mask_hides_all_under_autocast(model):
    ids, mask = texts((6, 3), 6)
    with torch.autocast("cpu", torch.bfloat16):
        output = model(ids, mask, output_attentions=True)
    assert all((weights[1, :, :, 3:] == 0).all() for weights in output.attentions)


def test_the_fused_path_equals_the_explicit_path(model):
    model = model.double()
    ids, mask = texts((9, 4), 9)
    explicit, fused = model(ids, mask, output_attentions=True), model(ids, mask)
    assert_close(fused.last_hidden_state, explicit.last_hidden_state, atol=1e-12, rtol=0)
    assert fused.attentions is None


def test_heads_are_split_in_order():
    attention = SelfAttention(BertConfig(10, 6, 1, 3, 6))
    x = torch.arange(12.0).view(1, 2, 6)
    heads = attention.split_heads(x)
    assert heads.shape == (1, 3, 2, 2)
    assert heads[0, 1, 1].tolist() == [8.0, 9.0]  # token 1, head 1


def test_a_token_sees_what_comes_after(model):
    ids, _ = texts((6,), 6)
    changed = ids.clone()
    changed[0, 5] = (changed[0, 5] % 50) + 1
    first = model(ids).last_hidden_state[0, 0]
    assert not torch.allclose(first, model(changed).last_hidden_state[0, 0])


@pytest.mark.parametrize("explicit", [True, False])
def test_dropout_is_off_in_evaluation(model, explicit):
    ids, mask = texts((9, 4), 9)
    first, second = (model(ids, mask, output_attentions=explicit).last_hidden_state for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("field", ["hidden_dropout_prob", "attention_probs_dropout_prob"])
def test_dropout_is_on_in_training_where_its_rate_is_not_0(field, explicit):
    both_off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    torch.manual_seed(0)
    ids, mask = texts((9, 4), 9)
    for chosen, same in ((both_off, True), ({**both_off, field: 0.5}, False)):
        model = BertModel(BertConfig(60, 32, 3, 4, 64, **chosen)).train()
        first, second = (model(ids, mask, output_attentions=explicit).last_hidden_state for _ in range(2))
        assert torch.equal(first, second) is same


def test_hidden_dropout_is_in_all_its_places():
    config = BertConfig(60, 400, 1, 4, 64, hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.0)
    torch.manual_seed(0)
    model = BertForPreTraining(config).train()
    seen: list[float] = []
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.register_forward_hook(lambda _, __, output: seen.append((output == 0).float().mean().item()))
    ids, mask = texts((9, 9), 9)
    model(ids, mask)
    assert len(seen) == 3  # after the embeddings, after attention, after the feed-forward
    assert all(abs(share - 0.5) < 0.05 for share in seen)
