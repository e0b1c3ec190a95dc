"""Filling in masks and looking at attention, against the plain forward pass."""

import math

import pytest
import torch
from support.small_runs import POSITIONS, VOCAB, save_model, small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.inference import attention_weights, fill_mask, open_model, pseudo_perplexity
from bertedu.model import BertForMaskedLM, BertForPreTraining, BertModel

TEXT = "the [MASK] sat on the [MASK] ."


@pytest.mark.parametrize("kind", [BertForPreTraining, BertForMaskedLM])
def test_every_mask_gets_its_own_answers(kind):
    model, tokenizer = small_model(kind), small_tokenizer()
    answers = fill_mask(model, tokenizer, TEXT, top=3)
    encoding = tokenizer(TEXT)
    with torch.no_grad():
        probabilities = model(**encoding).prediction_logits[0].softmax(dim=-1)  # [T, V]
    places = [place for place, token in enumerate(encoding.tokens[0]) if token == "[MASK]"]
    assert places == [2, 6] and len(answers) == 2
    for answer, place in zip(answers, places, strict=True):
        best = probabilities[place].argsort(descending=True)[:3].tolist()
        assert [token for token, _ in answer] == [VOCAB[index] for index in best]
        assert [share for _, share in answer] == pytest.approx([probabilities[place][index].item() for index in best])


def test_dropout_is_off_and_every_answer_repeats():
    model, tokenizer = small_model(hidden_dropout_prob=0.5), small_tokenizer()
    model.train()
    assert fill_mask(model, tokenizer, TEXT) == fill_mask(model, tokenizer, TEXT)
    assert model.training, "the caller's mode was changed"


def test_a_model_with_padded_vocabulary_answers_with_words_that_exist():
    model, tokenizer = small_model(vocab_size=len(VOCAB) + 3), small_tokenizer()
    with torch.no_grad():
        model.masked_lm.decoder.bias[len(VOCAB) :] = 50.0
    (answer,) = fill_mask(model, tokenizer, "the [MASK]", top=1000)
    assert {token for token, _ in answer} == set(VOCAB)
    assert sum(share for _, share in answer) == pytest.approx(1)


def test_a_text_without_a_mask_is_refused():
    with pytest.raises(UserError, match=r"no \[MASK\] in 'the cat'"):
        fill_mask(small_model(), small_tokenizer(), "the cat")


def test_asking_for_no_answers_is_refused():
    with pytest.raises(UserError, match="top is 0"):
        fill_mask(small_model(), small_tokenizer(), TEXT, top=0)


def test_a_text_longer_than_the_positions_is_refused():
    fitting = "[MASK] " * (POSITIONS - 2)
    assert len(fill_mask(small_model(), small_tokenizer(), fitting)) == POSITIONS - 2
    with pytest.raises(UserError, match=f"has {POSITIONS + 1} tokens .* takes {POSITIONS}: shorten"):
        fill_mask(small_model(), small_tokenizer(), fitting + "cat")


@pytest.mark.parametrize("kind", [BertForPreTraining, BertForMaskedLM])
def test_pseudo_perplexity_hides_one_token_at_a_time_and_no_cls(kind):
    model, tokenizer = small_model(kind), small_tokenizer()
    surprises = []
    for place in range(1, 4):
        ids = tokenizer("the cat sat").input_ids
        right = ids[0, place].item()
        ids[0, place] = tokenizer.mask_token_id
        with torch.no_grad():
            surprises.append(-model(ids).prediction_logits[0, place].log_softmax(dim=-1)[right].item())
    assert pseudo_perplexity(model, tokenizer, "the cat sat") == pytest.approx(math.exp(sum(surprises) / 3), rel=1e-5)


def test_pseudo_perplexity_of_nothing_and_of_too_much_is_refused():
    with pytest.raises(UserError, match="no token to hide"):
        pseudo_perplexity(small_model(), small_tokenizer(), " ")
    with pytest.raises(UserError, match=f"takes {POSITIONS}: shorten"):
        pseudo_perplexity(small_model(), small_tokenizer(), "cat " * POSITIONS)


@pytest.mark.parametrize("kind", [BertForPreTraining, BertForMaskedLM, BertModel])
def test_attention_is_of_all_layers_and_heads_and_of_both_texts(kind):
    model, tokenizer = small_model(kind), small_tokenizer()
    tokens, weights = attention_weights(model, tokenizer, "the cat sat", "he is on the mat")
    assert tokens == ["[CLS]", "the", "cat", "sat", "[SEP]", "he", "is", "on", "the", "mat", "[SEP]"]
    assert weights.shape == (2, 2, 11, 11) and torch.allclose(weights.sum(dim=-1), torch.ones(2, 2, 11))
    bert = model if kind is BertModel else model.bert
    with torch.no_grad():
        expected = bert(**tokenizer("the cat sat", "he is on the mat"), output_attentions=True).attentions
    assert torch.equal(weights, torch.stack([layer[0] for layer in expected]))


@pytest.mark.parametrize("kind", [BertForPreTraining, BertForMaskedLM])
def test_a_checkpoint_opens_as_its_own_kind_with_its_head(kind, tmp_path, recwarn):
    saved = small_model(kind)
    saved.save_pretrained(tmp_path)
    small_tokenizer().save_pretrained(tmp_path)
    model, tokenizer = open_model(tmp_path)
    assert type(model) is kind and not recwarn.list
    assert fill_mask(model, tokenizer, TEXT) == fill_mask(saved, tokenizer, TEXT)


def test_a_vocabulary_larger_than_the_models_is_refused_at_once(tmp_path):
    save_model(tmp_path)
    small_model(vocab_size=len(VOCAB) - 4).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=f"tokenizer has {len(VOCAB)} tokens and the model knows {len(VOCAB) - 4}"):
        open_model(tmp_path)


@pytest.mark.parametrize("kind", [BertForPreTraining, BertForMaskedLM])
def test_only_the_token_that_is_asked_about_is_scored(kind):
    """The head is most of a small model's work: [B, T, V] scores for one [MASK]."""
    model, scored = small_model(kind), []
    model.masked_lm.register_forward_hook(lambda module, inputs, output: scored.append(output.shape[:-1].numel()))
    fill_mask(model, small_tokenizer(), "the [MASK] sat on the [MASK]")
    assert scored == [2]
