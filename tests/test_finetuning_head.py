"""What the heads of all tasks share."""

import pytest
import torch

from bertedu.config import BertConfig, TaskConfig
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import CrfTagger, Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.summarization import SentenceChooser


@pytest.mark.parametrize("model_class", [TextClassifier, Tagger, CrfTagger, ChoiceModel, SentenceChooser])
def test_the_classifier_reads_vectors_with_dropout(model_class):
    """Of the vectors the classifier reads, a share of the numbers is 0 in training, and none when the model is used."""
    torch.manual_seed(0)
    config = BertConfig(30, 64, 1, 2, 32, hidden_dropout_prob=0.4)
    model = model_class.from_config(config, TaskConfig(("O", "B-x", "I-x")))
    read: list[torch.Tensor] = []
    model.classifier.register_forward_pre_hook(lambda module, inputs: read.append(inputs[0]))
    ids = torch.randint(5, 30, (8, 2, 9) if model_class is ChoiceModel else (16, 9))
    model.train().encoder.eval()  # the only dropout left is that before the classifier
    model(ids)
    model.eval()
    model(ids)
    learned, used = read
    assert (learned == 0).float().mean().item() == pytest.approx(0.4, abs=0.05) and not (used == 0).any()
    kept = learned != 0
    assert torch.allclose(learned[kept], used[kept] / 0.6, atol=1e-5), "what is left is scaled up"
