"""The losses of pre-training."""

import math
from dataclasses import asdict

import pytest
import torch
import transformers
from torch.testing import assert_close

from bertedu import BertConfig, BertForMaskedLM, BertForPreTraining, UserError

CONFIG = BertConfig(30, 16, 1, 2, 32, max_position_embeddings=8, initializer_range=0.3)
IDS = torch.tensor([[2, 11, 12, 3], [2, 13, 14, 3]])
LABELS = torch.tensor([[-100, 11, -100, -100], [-100, 7, 9, -100]])


@pytest.fixture
def model() -> BertForPreTraining:
    torch.manual_seed(0)
    return BertForPreTraining(CONFIG).eval()


def surprise(scores: torch.Tensor, answer: int) -> float:
    """-log of the softmax's share for the answer, by hand."""
    return math.log(sum(math.exp(score - scores[answer].item()) for score in scores.tolist()))


def test_the_masked_lm_loss_counts_labelled_tokens_alone(model):
    scores = model(IDS).prediction_logits
    expected = (surprise(scores[0, 1], 11) + surprise(scores[1, 1], 7) + surprise(scores[1, 2], 9)) / 3
    assert model(IDS, labels=LABELS).loss.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("labels", [[0, 0], [1, 1], [0, 1]])
def test_the_nsp_loss_counts_pairs_of_both_labels(model, labels):
    scores = model(IDS).seq_relationship_logits
    expected = sum(surprise(row, label) for row, label in zip(scores, labels, strict=True)) / 2
    assert model(IDS, next_sentence_label=torch.tensor(labels)).loss.item() == pytest.approx(expected, rel=1e-5)


def test_the_total_loss_is_the_sum_of_both(model):
    label = torch.tensor([1, 0])
    words, pairs = model(IDS, labels=LABELS).loss, model(IDS, next_sentence_label=label).loss
    assert_close(model(IDS, labels=LABELS, next_sentence_label=label).loss, words + pairs)
    assert model(IDS).loss is None


@pytest.mark.parametrize("kind", [BertForPreTraining, BertForMaskedLM])
def test_masked_positions_score_the_same_words_as_labels(kind):
    torch.manual_seed(0)
    model = kind(CONFIG).eval()
    by_labels = model(IDS, labels=LABELS)
    by_positions = model(IDS, masked_positions=LABELS != -100)
    assert by_labels.prediction_logits.shape == (3, 30)
    assert torch.equal(by_positions.prediction_logits, by_labels.prediction_logits)
    assert by_positions.loss is None


def test_a_batch_without_labels_leaves_finite_gradients(model):
    """The loss is nan, the mean of no numbers, as in transformers; the gradients stay finite."""
    theirs = transformers.BertForMaskedLM(transformers.BertConfig(**asdict(CONFIG)))
    nothing = torch.full_like(IDS, -100)
    assert theirs(IDS, labels=nothing).loss.isnan()
    loss = BertForMaskedLM(CONFIG)(IDS, labels=nothing).loss
    assert loss.isnan()
    output = model(IDS, labels=nothing, next_sentence_label=torch.tensor([0, 1]))
    assert output.loss.isnan()
    output.loss.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    assert model.next_sentence.weight.grad.abs().sum() > 0


def test_the_loss_is_computed_in_full_precision(model):
    output = model.bfloat16()(IDS, labels=LABELS, next_sentence_label=torch.tensor([0, 1]))
    assert output.prediction_logits.dtype == torch.bfloat16
    assert output.loss.dtype == torch.float32


def test_both_uses_of_a_tied_weight_reach_its_gradient(model):
    """A word that stands in no text still learns, through the decoder."""
    model(IDS, labels=LABELS).loss.backward()
    assert (model.bert.embeddings.token.weight.grad[29] != 0).any()


def test_outputs_of_the_encoder_are_handed_on(model):
    output = model(IDS, output_attentions=True, output_hidden_states=True)
    assert len(output.hidden_states) == 2 and len(output.attentions) == 1


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"labels": [[-1, 3], [4, 5]]}, "label -1 is outside the 30 classes.*-100"),
        ({"labels": [[-100, 30], [4, 5]]}, "label 30 is outside the 30 classes scored here: give 0 to 29"),
        ({"next_sentence_label": [0, 2]}, "label 2 is outside the 2 classes scored here: give 0 to 1"),
    ],
)
def test_unusable_labels_are_refused_with_a_remedy(model, labels, words):
    with pytest.raises(UserError, match=words):
        model(IDS[:, :2], **{name: torch.tensor(value) for name, value in labels.items()})
