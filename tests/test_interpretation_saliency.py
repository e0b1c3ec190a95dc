"""Saliency: gradients against finite differences, integrated gradients against what they must add up to."""

import pytest
import torch
from support.small_runs import small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.interpretation.saliency import (
    input_saliency,
    integrated_gradients,
    log_probabilities,
    token_vectors,
)
from bertedu.model import BertForMaskedLM

TEXT = "the cat sat on the [MASK] ."
POSITION = 6


def question(**changes):
    model, tokenizer = small_model(BertForMaskedLM, initializer_range=0.3, **changes), small_tokenizer()
    return model, tokenizer, tokenizer(TEXT), tokenizer.vocab["mat"]


def test_the_score_is_of_the_position_and_embeddings_given():
    model, _, encoding, answer = question()
    vectors = token_vectors(model, encoding.input_ids)
    with torch.no_grad():
        expected = model(**encoding).prediction_logits[0, POSITION].log_softmax(dim=-1)[answer]
        given = log_probabilities(model, encoding, vectors, POSITION, answer)
        other = log_probabilities(model, encoding, torch.cat([vectors, 0 * vectors]), POSITION, answer)
        assert torch.equal(model(**encoding).prediction_logits[0, POSITION].log_softmax(dim=-1)[answer], expected)
    assert given.shape == (1,) and given.item() == pytest.approx(expected.item(), abs=1e-6)
    assert other.shape == (2,) and other[0].item() == pytest.approx(expected.item(), abs=1e-5)
    assert abs(other[1] - other[0]) > 0.1


def test_the_gradient_is_that_of_the_tokens_log_probability():
    model, _, encoding, answer = question()
    model.double()
    vectors = token_vectors(model, encoding.input_ids)
    step, expected = 1e-4, torch.zeros_like(vectors)
    for token in range(vectors.size(1)):
        for entry in range(vectors.size(2)):
            moved = torch.cat([vectors, vectors])
            moved[0, token, entry] += step
            moved[1, token, entry] -= step
            with torch.no_grad():
                up, down = log_probabilities(model, encoding, moved, POSITION, answer).double()
            expected[0, token, entry] = (up - down) / (2 * step)
    saliency = input_saliency(model, encoding, POSITION, answer)
    assert saliency["gradient"].shape == (len(encoding.tokens[0]),)
    assert torch.allclose(saliency["gradient"], expected[0].norm(dim=-1), rtol=0.02, atol=0.01)
    assert torch.allclose(saliency["gradient x input"], (expected * vectors)[0].sum(dim=-1), rtol=0.02, atol=0.01)


def test_asking_trains_nothing_and_turns_dropout_off():
    model, _, encoding, answer = question(hidden_dropout_prob=0.5)
    model.train()
    first, second = (input_saliency(model, encoding, POSITION, answer)["gradient"] for _ in range(2))
    assert torch.equal(first, second) and model.training
    assert all(parameter.grad is None for parameter in model.parameters())
    with torch.no_grad():
        assert torch.equal(input_saliency(model, encoding, POSITION, answer)["gradient"], first)
    assert not model.bert.embeddings.token._forward_hooks


@pytest.mark.parametrize("masked", [False, True])
def test_parts_add_up_to_the_whole(masked):
    model, tokenizer, encoding, answer = question()
    ids = encoding.input_ids.clone()
    ids[0, 1:-1] = tokenizer.mask_token_id
    vectors = token_vectors(model, encoding.input_ids)
    start = token_vectors(model, ids) if masked else torch.zeros_like(vectors)
    parts = integrated_gradients(model, encoding, POSITION, answer, ids if masked else None, steps=200)
    with torch.no_grad():
        begin, end = log_probabilities(model, encoding, torch.cat([start, vectors]), POSITION, answer)
    assert abs(end - begin) > 0.1
    assert parts.sum().item() == pytest.approx((end - begin).item(), abs=2e-3)
    if masked:
        assert parts[0] == parts[POSITION] == parts[-1] == 0, "tokens that the baseline has too add nothing"


def test_a_number_of_steps_that_the_parts_do_not_divide_is_averaged_rightly():
    model, _, encoding, answer = question()
    few = integrated_gradients(model, encoding, POSITION, answer, steps=100)
    many = integrated_gradients(model, encoding, POSITION, answer, steps=160)
    assert torch.allclose(few, many, atol=5e-3)


def test_a_question_that_cannot_be_answered_is_refused():
    model, tokenizer, encoding, answer = question()
    for ask in (input_saliency, integrated_gradients):
        with pytest.raises(UserError, match="no position 9: the text has the positions 0 to 8"):
            ask(model, encoding, 9, answer)
        with pytest.raises(UserError, match="no token -1"):
            ask(model, encoding, POSITION, -1)
        with pytest.raises(UserError, match="there are 2 texts: ask about one"):
            ask(model, tokenizer([TEXT, TEXT]), POSITION, answer)
    with pytest.raises(UserError, match=r"baseline_ids have the shape \[1, 4\]"):
        integrated_gradients(model, encoding, POSITION, answer, torch.zeros(1, 4, dtype=torch.long))
    with pytest.raises(UserError, match="steps is 0"):
        integrated_gradients(model, encoding, POSITION, answer, steps=0)
