"""DeBERTa, versions 2 and 3: the same numbers as `transformers`' classes, and the traps of the buckets."""

import pytest
import torch
import transformers
from family_parity import (
    DIRECTIONS,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    twins,
)
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

from bertedu.config import TaskConfig
from bertedu.family.deberta.v2 import DebertaV2Config, DebertaV2Model, log_buckets
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.multiple_choice import ChoiceModel
from bertedu.finetuning.question_answering import SpanFinder
from bertedu.finetuning.tagging import Tagger
from bertedu.model.heads import MaskedLM


def config(vocab_size, hidden_size, layers, heads, intermediate_size, positions, buckets, **others) -> DebertaV2Config:
    return DebertaV2Config(
        vocab_size,
        hidden_size,
        layers,
        heads,
        intermediate_size,
        max_position_embeddings=positions,
        position_buckets=buckets,
        **others,
    )


# The batch has 12 tokens. In the first four configurations some of their distances share a bucket, in the third and the
# fourth some are beyond the last one; in the fifth all are near; the last two have a convolution.
CONFIGS = (
    config(60, 16, 2, 4, 24, 14, 4),
    config(70, 24, 1, 3, 40, 32, 8, hidden_act="gelu_new"),
    config(50, 8, 4, 1, 12, 12, 6, max_relative_positions=7, pad_token_id=3),
    config(90, 20, 3, 5, 16, 9, 2, layer_norm_eps=1e-3),
    config(64, 12, 2, 2, 48, 16, 256, position_biased_input=True, pad_token_id=7),
    config(40, 32, 2, 8, 8, 20, 6, conv_kernel_size=3),
    config(45, 18, 1, 2, 20, 30, 10, conv_kernel_size=5, conv_act="tanh", position_biased_input=True),
)
every_config = pytest.mark.parametrize("config", CONFIGS, ids=range(len(CONFIGS)))
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


@both_ways
@every_config
def test_a_hidden_state_or_an_attention_differs(config, saved_by, tmp_path):
    ours, theirs = twins(DebertaV2Model, transformers.DebertaV2Model, config, saved_by, tmp_path)
    assert ours.config == config
    assert_same_hidden_states(ours, theirs, padded_batch(config))


@both_ways
@every_config
def test_the_masked_lm_loss_or_a_gradient_differs(config, saved_by, tmp_path):
    ours, theirs = twins(MaskedLM, transformers.DebertaV2ForMaskedLM, config, saved_by, tmp_path)
    batch = padded_batch(config)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


# Each task: our head, theirs, what the config says of the task, and labels for three texts.
SCORES = TaskConfig(("score",), problem_type="regression")
SPAN = {"start_positions": torch.tensor([3, 0, 1]), "end_positions": torch.tensor([9, 0, 1])}
TASKS = {
    "classes": (
        TextClassifier,
        "SequenceClassification",
        TaskConfig(tuple("abc")),
        {"labels": torch.tensor([2, 0, 1])},
    ),
    "regression": (TextClassifier, "SequenceClassification", SCORES, {"labels": torch.tensor([0.3, -1.0, 2.0])}),
    "tags": (Tagger, "TokenClassification", TaskConfig(tuple("abcd")), {"labels": torch.arange(36).view(3, 12) % 4}),
    "spans": (SpanFinder, "QuestionAnswering", TaskConfig(), SPAN),
}


@both_ways
@pytest.mark.parametrize("task", TASKS)
def test_the_head_of_a_task_or_its_gradient_differs(task, saved_by, tmp_path):
    """Also where padding is scored: its vectors are those of `transformers`, and what is learned from them."""
    head, name, task_config, labels = TASKS[task]
    their_class = getattr(transformers, f"DebertaV2For{name}")
    for number in (0, 5):  # without and with a convolution
        folder = tmp_path / str(number)
        ours, theirs = twins(head, their_class, CONFIGS[number], saved_by, folder, task_config)
        assert_same_loss(ours, theirs, padded_batch(CONFIGS[number]), **labels)


@both_ways
def test_the_head_for_choices_or_its_gradient_differs(saved_by, tmp_path):
    ours, theirs = twins(ChoiceModel, transformers.DebertaV2ForMultipleChoice, CONFIGS[1], saved_by, tmp_path)
    batch = {name: tensor[None] for name, tensor in padded_batch(CONFIGS[1]).items()}  # one question, three choices
    assert_same_loss(ours, theirs, batch, labels=torch.tensor([2]))


@pytest.mark.parametrize(("buckets", "farthest"), [(256, 512), (4, 14), (6, 100), (32, 128), (7, 50), (2, 9)])
def test_a_distance_falls_into_another_bucket(buckets, farthest):
    """`transformers` also loses no distance at the edge of a bucket, where the logarithm is a whole number."""
    distances = torch.arange(-farthest - 9, farthest + 10)
    expected = make_log_bucket_position(distances, buckets, farthest).long()
    assert torch.equal(log_buckets(distances, buckets, farthest), expected)
