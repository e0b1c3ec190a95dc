"""Heads: their habits against pencil and paper, their silence against zeroed weights."""

import math

import pytest
import torch
from support.small_runs import small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.inference import attention_weights
from bertedu.interpretation.heads import (
    attention_layers,
    entropy,
    head_importance,
    pattern_scores,
    without_heads,
)
from bertedu.model import BertForMaskedLM, BertModel

TOKENS = ["[CLS]", "the", "cat", "[SEP]"]
ROWS = torch.tensor(
    [
        [0.5, 0.5, 0.0, 0.0],  # 1 bit, 0.5 tokens away
        [0.25, 0.25, 0.25, 0.25],  # 2 bits, 1 token away
        [0.0, 0.0, 0.0, 1.0],  # 0 bits, 1 token away
        [0.0, 0.5, 0.25, 0.25],  # 1.5 bits, 1.25 tokens away
    ]
)


def one_head(rows=ROWS):
    return (rows[None, None],)  # one layer of [1, 1, T, T]


def padded():
    """Layer 0 does as ROWS; layer 1 looks at itself. A second text of two tokens, whose padding looks far away."""
    texts = torch.zeros(2, 2, 4, 4)  # [L, B, T, T]
    texts[0, 0] = ROWS
    texts[1, 0] = torch.eye(4)
    texts[:, 1, :2, :2] = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    texts[:, 1, 2:, 0] = 1.0
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    return tuple(texts[:, :, None]), mask, [TOKENS, ["[CLS]", "[SEP]", "[PAD]", "[PAD]"]]


def test_entropy_is_in_bits_and_0_for_weights_of_0():
    assert entropy(one_head()).item() == pytest.approx((1 + 2 + 0 + 1.5) / 4)
    assert entropy(one_head(torch.full((8, 8), 1 / 8))).item() == pytest.approx(3)
    assert entropy(one_head(torch.eye(3))).item() == 0


def test_padding_does_not_count_as_text():
    attentions, mask, tokens = padded()
    assert torch.allclose(entropy(attentions, mask), torch.tensor([[(4.5 + 0 + 1) / 6], [(0 + 0 + 1) / 6]]))
    scores = pattern_scores(attentions, tokens)
    assert scores["[CLS]"][0].item() == pytest.approx((0.5 + 0.25 + 0 + 0 + 1 + 0.5) / 6)
    assert scores["itself"][1].item() == pytest.approx((4 + 1.5) / 6)


def test_next_and_previous_are_told_apart_and_the_ends_of_a_text_left_out():
    scores = pattern_scores(one_head(), TOKENS)
    assert scores["next token"].item() == pytest.approx((0.5 + 0.25 + 1) / 3)
    assert scores["previous token"].item() == pytest.approx((0.25 + 0 + 0.25) / 3)
    assert scores["itself"].item() == pytest.approx((0.5 + 0.25 + 0 + 0.25) / 4)
    assert scores["[CLS]"].item() == pytest.approx(0.75 / 4) and scores["[SEP]"].item() == pytest.approx(1.5 / 4)
    assert list(scores) == ["next token", "previous token", "itself", "[CLS]", "[SEP]"]
    others = pattern_scores(one_head(), ["<s>", *TOKENS[1:-1], "</s>"])  # as RoBERTa spells them
    assert list(others)[3:] == ["<s>", "</s>"] and others["</s>"] == scores["[SEP]"]
    ahead = pattern_scores(one_head(torch.eye(4).roll(1, dims=1)), TOKENS)
    assert ahead["next token"].item() == 1 and ahead["previous token"].item() == 0


def test_the_neighbour_of_the_last_word_is_no_padding():
    attentions, _, tokens = padded()
    scores = pattern_scores(attentions, tokens)
    assert scores["next token"][0].item() == pytest.approx((0.5 + 0.25 + 1 + 0) / 4)
    assert scores["previous token"][0].item() == pytest.approx((0.25 + 0 + 0.25 + 0.5) / 4)


def test_a_batch_and_its_texts_alone_agree():
    model, tokenizer = small_model(), small_tokenizer()
    texts = ["the cat sat on the mat .", "paris is the capital"]
    encoding = tokenizer(texts)
    with torch.no_grad():
        together = model(**encoding, output_attentions=True).attentions
    alone = [attention_weights(model, tokenizer, text) for text in texts]
    lengths = torch.tensor([float(len(tokens)) for tokens, _ in alone])
    each = torch.stack([entropy(weights) for _, weights in alone])  # [2, L, H]
    expected = (each * lengths[:, None, None]).sum(dim=0) / lengths.sum()
    assert torch.allclose(entropy(together, encoding.attention_mask), expected, atol=1e-5)
    sep = torch.stack([pattern_scores(weights, tokens)["[SEP]"] for tokens, weights in alone])
    expected = (sep * lengths[:, None, None]).sum(dim=0) / lengths.sum()
    assert torch.allclose(pattern_scores(together, encoding.tokens)["[SEP]"], expected, atol=1e-5)


def test_weights_and_tokens_of_different_texts_are_refused():
    with pytest.raises(UserError, match="output_attentions=True"):
        entropy(())
    with pytest.raises(UserError, match="output_attentions=True"):
        entropy((None, None))
    with pytest.raises(UserError, match=r"shape \[4, 4\]: give output.attentions"):
        entropy(ROWS)
    with pytest.raises(UserError, match=r"attention_mask has the shape \[1, 3\]"):
        entropy(one_head(), torch.ones(1, 3))
    with pytest.raises(UserError, match=r"tokens of 1 texts, \[3\] of them"):
        pattern_scores(one_head(), TOKENS[:3])


@pytest.mark.parametrize("kind", [BertForMaskedLM, BertModel])
def test_the_head_that_is_named_is_ablated(kind):
    model, tokenizer = small_model(kind), small_tokenizer()
    encoding, bert = tokenizer("the cat sat on the mat ."), getattr(model, "bert", model)
    silenced = [(0, 1), (1, 0), (1, 1)]
    with torch.no_grad():
        before = bert(**encoding).last_hidden_state
        with without_heads(model, silenced):
            without = bert(**encoding).last_hidden_state
            seen = bert(**encoding, output_attentions=True).last_hidden_state
        assert torch.equal(bert(**encoding).last_hidden_state, before), "the heads are still silent"
        for layer, head in silenced:  # the head's 8 columns of the output projection
            bert.encoder.layers[layer].attention.output.weight[:, head * 8 : head * 8 + 8] = 0
        expected = bert(**encoding).last_hidden_state
    assert torch.allclose(without, expected, atol=1e-6) and torch.allclose(seen, expected, atol=1e-6)
    assert not torch.allclose(without, before, atol=1e-3)


def test_heads_come_back_after_an_exception():
    model = small_model()
    with pytest.raises(RuntimeError, match="in the middle"), without_heads(model, [(0, 0)]):
        raise RuntimeError("in the middle")
    assert not any(layer.output._forward_pre_hooks for layer in attention_layers(model))


@pytest.mark.parametrize("place", [(2, 0), (0, 2), (-1, 0), (0, -1)])
def test_a_head_that_is_not_there_is_refused(place):
    model = small_model()
    with pytest.raises(UserError, match=r"layers 0 to 1 and the heads 0 to 1"), without_heads(model, [(0, 0), place]):
        pass
    assert not any(layer.output._forward_pre_hooks for layer in attention_layers(model))
    with pytest.raises(UserError, match="Linear has no self-attention"):
        attention_layers(torch.nn.Linear(2, 2))


def test_importance_is_the_rise_of_the_loss_without_that_head():
    model, tokenizer = small_model(hidden_dropout_prob=0.5), small_tokenizer()
    model.train()
    encoding = tokenizer("the cat sat on the [MASK] .")
    labels = torch.full_like(encoding.input_ids, -100)
    labels[encoding.input_ids == tokenizer.mask_token_id] = tokenizer.vocab["mat"]

    def loss(model):
        return model(**encoding, labels=labels).loss

    rises = head_importance(model, loss)
    assert model.training and rises.shape == (2, 2) and not rises.requires_grad
    model.eval()
    with torch.no_grad():
        whole = loss(model)
        for layer in range(2):
            for head in range(2):
                with without_heads(model, [(layer, head)]):
                    assert rises[layer, head].item() == pytest.approx((loss(model) - whole).item(), abs=1e-6)
    assert math.isfinite(rises.sum().item()) and rises.abs().max() > 1e-4
