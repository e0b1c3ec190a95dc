"""Classes for texts: the same numbers as `transformers`, losses by hand, labels that are checked, and learning."""

import math

import numpy as np
import pytest
import torch
from support.tiny_run import tiny_tokenizer
from torch.nn.functional import sigmoid
from transformers import AutoModelForSequenceClassification
from transformers import BertForSequenceClassification as Reference

from bertedu.config import BertConfig, TaskConfig
from bertedu.corpora.readers import LabelledText
from bertedu.errors import UserError
from bertedu.finetuning.classification import (
    BertForSequenceClassification,
    ClassificationTask,
    balanced_weights,
    classification_figures,
    classification_loss,
    scale_to_learn,
)
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings

PROBLEMS = {
    "single_label_classification": torch.tensor([2, 0]),
    "multi_label_classification": torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
    "regression": torch.tensor([0.5, -1.0]),
}


def made_model(problem_type: str = "single_label_classification", pooling: str = "pooler", vocab_size: int = 60):
    torch.manual_seed(1)
    labels = ("score",) if problem_type == "regression" else ("bad", "fair", "good")
    config, task_config = BertConfig(vocab_size, 16, 2, 2, 32), TaskConfig(labels, problem_type, pooling)
    model = BertForSequenceClassification.from_config(config, task_config).eval()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("problem_type", PROBLEMS)
def test_transformers_says_the_same(problem_type, tmp_path):
    model = made_model(problem_type)
    model.save_pretrained(tmp_path)
    reference = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    assert isinstance(reference, Reference) and reference.config.problem_type == problem_type
    assert tuple(reference.config.id2label.values()) == model.task_config.labels
    ids, mask = torch.randint(5, 60, (2, 7)), torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
    ours = model(ids, mask, labels=PROBLEMS[problem_type])
    theirs = reference(ids, mask, labels=PROBLEMS[problem_type])
    assert torch.allclose(ours.logits, theirs.logits, atol=1e-5)
    assert ours.loss.item() == pytest.approx(theirs.loss.item(), abs=1e-5)
    reference.save_pretrained(tmp_path / "back")
    back = BertForSequenceClassification.from_pretrained(tmp_path / "back")
    assert back.task_config.labels == model.task_config.labels and back.task_config.problem_type == problem_type
    assert torch.equal(back(ids, mask).logits, ours.logits)


def test_a_pooling_is_remembered_on_disk(tmp_path):
    model = made_model(pooling="mean")
    assert model.bert.pooler is None
    model.save_pretrained(tmp_path)
    ids = torch.randint(5, 60, (2, 7))
    assert torch.equal(BertForSequenceClassification.from_pretrained(tmp_path)(ids).logits, model(ids).logits)


def test_losses_are_those_by_hand():
    logits = torch.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    expected = [-math.log(1 / (math.e + 2)), -math.log(math.exp(2) / (math.exp(2) + 2))]
    loss = classification_loss(logits, torch.tensor([2, 1]), "single_label_classification")
    assert loss.item() == pytest.approx(sum(expected), abs=1e-6)
    labels = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    chance = sigmoid(logits)
    by_hand = -(labels * chance.log() + (1 - labels) * (1 - chance).log()).mean(dim=1)
    loss = classification_loss(logits, labels, "multi_label_classification")
    assert loss.item() == pytest.approx(by_hand.sum().item(), abs=1e-6)
    loss = classification_loss(torch.tensor([[1.0], [3.0]]), torch.tensor([0.0, 1.0]), "regression")
    assert loss.item() == pytest.approx(5)


def test_rare_classes_count_more_than_their_texts():
    weights = balanced_weights([0, 0, 0, 1], 2, "single_label_classification")
    assert weights.tolist() == pytest.approx([4 / 6, 2.0])
    with pytest.raises(UserError, match="one class a text"):
        balanced_weights([0.5], 1, "regression")


def test_figures_are_those_by_hand():
    logits = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    figures = classification_figures(logits, np.array([0, 1, 2, 2]), "single_label_classification")
    assert figures == pytest.approx({"accuracy": 0.75, "macro_f1": (1 + 2 / 3 + 2 / 3) / 3})
    targets = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 0]])
    several = classification_figures(logits - 0.5, targets, "multi_label_classification")
    assert several["all_right"] == 0.5 and several["micro_f1"] == pytest.approx(0.75)
    equal = classification_figures(np.zeros((3, 1)), np.array([1.0, 2.0, 3.0]), "regression")
    assert equal["spearman"] == 0.0 and equal["mean_squared_error"] == pytest.approx(14 / 3)


def texts(count: int) -> list[LabelledText]:
    """Made-up texts; a text is good where one word stands in it, whatever the others."""
    tokenizer = tiny_tokenizer()
    words = [token for token in tokenizer.vocab if not token.startswith("[")]
    generator = np.random.default_rng(0)
    rows = []
    for _ in range(count):
        chosen = [str(word) for word in generator.choice(words[2:], 6)]
        good = generator.random() < 0.5
        chosen[int(generator.integers(6))] = words[0] if good else words[1]
        rows.append(LabelledText(" ".join(chosen), "good" if good else "bad"))
    return rows


def test_a_label_that_nobody_named_is_refused():
    with pytest.raises(UserError, match="'good' of"):
        ClassificationTask(texts(8), [], tiny_tokenizer(), FinetuningSettings(), labels=("bad",))
    with pytest.raises(UserError, match="no row"):
        ClassificationTask([], [], tiny_tokenizer(), FinetuningSettings(), labels=("bad",))


def test_a_task_that_a_word_decides_is_learned_and_the_best_is_kept(tmp_path):
    tokenizer, settings = tiny_tokenizer(), FinetuningSettings(dropout=0.0, batch_size=8, pooling="mean")
    task = ClassificationTask(texts(200), texts(260)[200:], tokenizer, settings, labels=("bad", "good"))
    torch.manual_seed(0)
    config, task_config = BertConfig(len(tokenizer), 32, 1, 2, 64), TaskConfig(("bad", "good"), pooling="mean")
    model = BertForSequenceClassification.from_config(config, task_config)
    before = task.score(model, task.validation_rows)["accuracy"]
    training = TrainingSettings(learning_rate=5e-3, device="cpu", precision="fp32", validations=3)
    Trainer(model, task, training, Budget(steps=75), tmp_path).run()
    best = BertForSequenceClassification.from_pretrained(tmp_path / "checkpoint-best")
    assert before < 0.75 < 0.95 < task.score(best, task.validation_rows)["accuracy"]


def test_predictions_come_back_in_the_order_of_the_rows():
    tokenizer, settings = tiny_tokenizer(), FinetuningSettings()
    rows = [LabelledText(" ".join(row.text.split()[: 1 + i % 6]), row.label) for i, row in enumerate(texts(150))]
    task = ClassificationTask(rows, [], tokenizer, settings, labels=("bad", "good"))
    model = made_model(vocab_size=len(tokenizer))
    together = task.outputs(model, task.examples)
    alone = [task.outputs(model, [example])[0] for example in task.examples]
    assert np.allclose(together, alone, atol=1e-5)


def test_large_scores_are_learned_and_saved_in_their_own_unit(tmp_path):
    rows = [LabelledText(row.text, 900_000.0 if row.label == "good" else 100_000.0) for row in texts(260)]
    tokenizer, settings = tiny_tokenizer(), FinetuningSettings(dropout=0.0, batch_size=8)
    task = ClassificationTask(rows[:200], rows[200:], tokenizer, settings, ("score",), "regression")
    scale = scale_to_learn([row.label for row in rows[:200]])
    torch.manual_seed(0)
    config = BertConfig(len(tokenizer), 32, 1, 2, 64)
    model = BertForSequenceClassification.from_config(config, TaskConfig(("score",), "regression", **scale))
    training = TrainingSettings(learning_rate=5e-3, device="cpu", precision="fp32", validations=3)
    Trainer(model, task, training, Budget(steps=100), tmp_path).run()
    best = BertForSequenceClassification.from_pretrained(tmp_path / "checkpoint-best")
    rows = task.validation_rows
    before = np.stack(task.predictions(best, rows))
    assert abs(before[:, 0] - [row.label for row in rows]).mean() < 100_000, "0.88 was said of each"
    assert best.settle() and not best.settle()
    best.save_pretrained(tmp_path / "whole")
    after = np.stack(task.predictions(best, rows))
    assert np.allclose(before, after, rtol=1e-4)
    ids, mask = torch.randint(5, 30, (2, 7)), torch.ones(2, 7, dtype=torch.long)
    reference = AutoModelForSequenceClassification.from_pretrained(tmp_path / "whole").eval()
    assert torch.allclose(best.cpu().eval()(ids, mask).logits, reference(ids, mask).logits, rtol=1e-4)


def test_scores_near_0_are_learned_as_they_are():
    assert scale_to_learn([0.0, 5.0]) == {} == scale_to_learn([])
    assert scale_to_learn([100.0, 300.0]) == {"score_mean": 200.0, "score_deviation": 100.0}
    assert scale_to_learn([500.0, 500.0]) == {"score_mean": 500.0, "score_deviation": 1.0}
