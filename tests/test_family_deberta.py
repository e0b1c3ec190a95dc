"""DeBERTa, version 1: the same numbers as `transformers`' classes, and the traps of disentangled attention."""

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

from bertedu.config import TaskConfig
from bertedu.family.deberta.v1 import DebertaConfig, DebertaModel
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.question_answering import SpanFinder
from bertedu.finetuning.tagging import Tagger
from bertedu.model.heads import MaskedLM


def config(vocab_size, hidden_size, layers, heads, intermediate_size, positions, farthest, **others) -> DebertaConfig:
    return DebertaConfig(
        vocab_size,
        hidden_size,
        layers,
        heads,
        intermediate_size,
        max_position_embeddings=positions,
        max_relative_positions=farthest,
        **others,
    )


# The batch has 12 tokens: four of these tell fewer distances apart, one has fewer positions than tokens.
CONFIGS = (
    config(60, 16, 2, 4, 24, 14, -1),
    config(70, 24, 1, 3, 40, 32, 5, hidden_act="gelu_new"),
    config(50, 8, 4, 1, 12, 12, 11, pad_token_id=3),
    config(90, 20, 3, 5, 16, 9, -1, layer_norm_eps=1e-3),
    config(64, 12, 2, 2, 48, 16, 1, position_biased_input=True, pad_token_id=7),
    config(40, 32, 2, 8, 8, 20, 7, position_biased_input=True),
)
every_config = pytest.mark.parametrize("config", CONFIGS, ids=range(len(CONFIGS)))
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


@both_ways
@every_config
def test_a_hidden_state_or_an_attention_differs(config, saved_by, tmp_path):
    ours, theirs = twins(DebertaModel, transformers.DebertaModel, config, saved_by, tmp_path)
    assert ours.config == config
    assert_same_hidden_states(ours, theirs, padded_batch(config))


@both_ways
@every_config
def test_the_masked_lm_loss_or_a_gradient_differs(config, saved_by, tmp_path):
    ours, theirs = twins(MaskedLM, transformers.DebertaForMaskedLM, config, saved_by, tmp_path)
    batch = padded_batch(config)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


# Each task: our head, theirs, what the config says of the task, and labels for three texts.
LABELS = torch.tensor([2, 0, 1])
TAGS = padded_batch(CONFIGS[0])["input_ids"] % 4
TASKS = {
    "classes": (TextClassifier, "SequenceClassification", TaskConfig(("a", "b", "c")), {"labels": LABELS}),
    "regression": (
        TextClassifier,
        "SequenceClassification",
        TaskConfig(("score",), problem_type="regression"),
        {"labels": torch.tensor([0.3, -1.0, 2.0])},
    ),
    "tags": (Tagger, "TokenClassification", TaskConfig(tuple("abcd")), {"labels": TAGS}),
    "spans": (
        SpanFinder,
        "QuestionAnswering",
        TaskConfig(),
        {"start_positions": torch.tensor([3, 0, 1]), "end_positions": torch.tensor([9, 0, 1])},
    ),
}


@both_ways
@pytest.mark.parametrize("task", TASKS)
def test_the_head_of_a_task_or_its_gradient_differs(task, saved_by, tmp_path):
    """Also where padding is scored, for spans: its vectors are those of `transformers`."""
    head, name, task_config, labels = TASKS[task]
    their_class = getattr(transformers, f"DebertaFor{name}")
    ours, theirs = twins(head, their_class, CONFIGS[1], saved_by, tmp_path, task_config)
    assert_same_loss(ours, theirs, padded_batch(CONFIGS[1]), **labels)
