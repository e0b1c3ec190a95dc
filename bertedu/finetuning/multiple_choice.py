"""One of several choices: each is read behind the question, and their scores compete. Notebook 13.

Devlin et al. 2019, section 4.4 (SWAG). Shapes: B batch, C choices, T tokens.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.config import BertConfig
from bertedu.corpora.readers import Choices
from bertedu.finetuning.classification import ClassifierOutput
from bertedu.finetuning.examples import Example, encode_text
from bertedu.finetuning.explaining import mistake, rounded
from bertedu.finetuning.task import Batch, FinetuningTask
from bertedu.model.bert import BertModel
from bertedu.model.pretrained import PretrainedModel


class BertForMultipleChoice(PretrainedModel):
    """BERT and one score for each pair of question and choice. The same as in `transformers`."""

    def __init__(self, config: BertConfig):
        super().__init__(config)
        self.bert = BertModel(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, 1)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> ClassifierOutput:
        """input_ids and the others [B, C, T], labels [B] the number of the right choice; logits come as [B, C]."""
        choices = input_ids.size(1)
        rows = [None if given is None else given.flatten(0, 1) for given in (input_ids, attention_mask, token_type_ids)]
        pooled = self.bert(*rows).pooler_output  # [B C, D]
        logits = self.classifier(self.dropout(pooled)).view(-1, choices)
        loss = None if labels is None else cross_entropy(logits.float(), labels)
        return ClassifierOutput(logits, loss)


class MultipleChoiceTask(FinetuningTask[Choices]):
    """Learning which choice is right."""

    best_by = "accuracy"

    def encode(self, rows: Sequence[Choices]) -> list[Example]:
        """For each question its choices as pairs: context and question, then the choice. What is too long loses the end
        of its context, and only where that is not enough the end of question or choice.
        """
        examples = []
        for row in rows:
            context, length = self.tokenizer.encode(row.context), self.settings.max_length
            asked = [encode_text(self.tokenizer, row.question, choice, length) for choice in row.choices]
            pairs = [behind(context[: length - len(pair["input_ids"])], pair) for pair in asked]
            rows_by_name = {name: [pair[name] for pair in pairs] for name in pairs[0]}
            examples.append({**rows_by_name, "labels": row.label})
        return examples

    def counts(self, batch: Batch) -> dict[str, int]:
        """Questions."""
        return {"question": len(batch["labels"])}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed loss of the questions."""
        return {"question_loss": model(**batch).loss * len(batch["labels"])}

    def read(self, model: nn.Module, batch: Batch) -> list[np.ndarray]:
        """The probabilities of each question's choices, [C]."""
        output = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
        return list(output.logits.float().softmax(dim=-1).cpu().numpy())

    def predictions(self, model: nn.Module, rows: Sequence[Choices]) -> list[np.ndarray]:
        """The probabilities of each question's choices, [C]."""
        return self.outputs(model, self.encode(rows))

    def figures(self, rows: Sequence[Choices], predictions: Sequence[np.ndarray]) -> dict[str, float]:
        """The share of right choices."""
        right = [shares.argmax() == row.label for row, shares in zip(rows, predictions, strict=True)]
        return {"accuracy": sum(right) / len(rows)}

    def explain(self, rows: Sequence[Choices], predictions: Sequence[np.ndarray]) -> list[dict[str, Any]]:
        """The question and its choices, the place of the right one and of the chosen one, and all probabilities."""
        explained = []
        for row, shares in zip(rows, predictions, strict=True):
            prediction, sure = int(shares.argmax()), rounded(shares.max())
            asked = {"context": row.context, "question": row.question, "choices": list(row.choices)}
            said: dict[str, Any] = {"label": row.label, "prediction": prediction, "probability": sure}
            said["probabilities"] = [rounded(share) for share in shares]
            explained.append({**asked, **said, "mistake": mistake(sure, prediction != row.label)})
        return explained


def behind(context: list[int], pair: Example) -> Example:
    """The pair of question and choice, with the ids of a context between [CLS] and the question."""
    between = {"input_ids": context, "token_type_ids": [0] * len(context), "attention_mask": [1] * len(context)}
    return {name: [*numbers[:1], *between[name], *numbers[1:]] for name, numbers in pair.items()}


def choice_baselines(train: Sequence[Choices], test: Sequence[Choices]) -> dict[str, dict[str, float]]:
    """The figures of drawing lots, and of the choice that shares most words with the question and its context."""
    rng, right = random.Random("choices"), 0
    for row in test:
        asked = set(f"{row.context} {row.question}".lower().split())
        shared = [(len(asked & set(choice.lower().split())), rng.random()) for choice in row.choices]
        right += shared.index(max(shared)) == row.label  # lots decide between equals
    chance = sum(1 / len(row.choices) for row in test) / len(test)
    return {"chance": {"accuracy": chance}, "most shared words": {"accuracy": right / len(test)}}
