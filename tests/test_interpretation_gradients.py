"""Norms of gradients by part, against the norm that clipping sees."""

import math

import pytest
import torch
from support.small_runs import small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.interpretation.gradients import gradient_norms
from bertedu.model import BertForMaskedLM


def after_backward(**changes):
    model, tokenizer = small_model(**changes), small_tokenizer()
    encoding = tokenizer("the cat sat on the [MASK] .")
    labels = torch.full_like(encoding.input_ids, -100)
    labels[0, 6] = tokenizer.vocab["mat"]
    model(**encoding, labels=labels).loss.backward()
    return model


def test_every_part_is_counted_and_the_tied_table_once():
    model = after_backward()
    norms = gradient_norms(model)
    assert list(norms) == ["embeddings", "layer 1", "layer 2", "pooler", "masked_lm", "next_sentence"]
    assert norms["pooler"] == norms["next_sentence"] == 0, "nobody asked for the next sentence"
    clipped = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9)
    assert math.hypot(*norms.values()) == pytest.approx(clipped.item(), rel=1e-5)


def test_the_norm_of_a_layer_is_its_own():
    model = after_backward(kind=BertForMaskedLM)
    for parameter in model.bert.encoder.layers[1].parameters():
        parameter.grad = None  # a frozen layer
    norms = gradient_norms(model)
    grads = [parameter.grad.flatten() for parameter in model.bert.encoder.layers[0].parameters()]
    assert norms["layer 1"] == pytest.approx(torch.cat(grads).norm().item(), rel=1e-5)
    assert norms["layer 2"] == 0 and "pooler" not in norms


def test_gradients_that_were_thrown_away_are_told():
    model = after_backward()
    model.zero_grad()
    with pytest.raises(UserError, match=r"call loss.backward\(\) first"):
        gradient_norms(model)
