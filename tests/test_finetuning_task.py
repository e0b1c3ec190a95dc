"""What all fine-tuning tasks share: the loss on validation rows."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from bertedu.config import BertConfig, TaskConfig
from bertedu.corpora.readers import LabelledText
from bertedu.errors import UserError
from bertedu.finetuning.classification import BertForSequenceClassification, ClassificationTask
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *"abcdefgh"])
ROWS = [LabelledText(" ".join("abcdefgh"[n % 7 : n % 7 + 1 + n % 3]), "xyz"[n % 3]) for n in range(150)]


def made() -> tuple[BertForSequenceClassification, ClassificationTask]:
    torch.manual_seed(0)
    config = BertConfig(len(TOKENIZER), 16, 2, 2, 32, hidden_dropout_prob=0.5)
    task = ClassificationTask(ROWS[:5], ROWS, TOKENIZER, FinetuningSettings(max_length=16), ("x", "y", "z"))
    return BertForSequenceClassification.from_config(config, TaskConfig(("x", "y", "z"))), task


def test_the_validation_loss_is_the_mean_of_all_labels_without_dropout():
    model, task = made()
    model.train()
    figures = task.validate(model, torch.device("cpu"))
    logits = torch.tensor([row.tolist() for row in task.predictions(model, ROWS)])
    right = torch.tensor(["xyz".index(str(row.label)) for row in ROWS])
    assert figures["text_loss"] == pytest.approx(cross_entropy(logits, right).item(), abs=1e-5)
    assert figures["accuracy"] == pytest.approx((logits.argmax(-1) == right).float().mean().item())
    assert task.validate(model, torch.device("cpu")) == figures


def test_weights_that_ran_away_are_not_kept_as_the_best():
    model, task = made()
    torch.nn.init.constant_(model.classifier.weight, float("nan"))
    with pytest.raises(UserError, match=r"text loss on the validation rows is nan.*lower --learning-rate"):
        task.validate(model, torch.device("cpu"))
