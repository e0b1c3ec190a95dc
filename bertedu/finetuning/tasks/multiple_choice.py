"""One of several choices: each is read after the question, and their scores compete. Notebook 13.

Devlin et al. 2019, section 4.4 (SWAG). Shapes: B batch, C choices, T tokens.
"""

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.config import TaskConfig
from bertedu.corpora.readers import Choices
from bertedu.corpora.task_data import read_choices
from bertedu.finetuning.classification import ClassifierOutput
from bertedu.finetuning.examples import Example, example_of
from bertedu.finetuning.explaining import Mistake, check_numbers, mistake, rounded, shortened
from bertedu.finetuning.head import TaskModel
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.task import Batch, FinetuningTask
from bertedu.model.architecture import Backbone
from bertedu.segmentation import joined, spaced_words
from bertedu.tokenization import Tokenizer
from bertedu.tokenization.encoding import kept_lengths
from bertedu.training.figures import Figures

HELP = """
multiple-choice: one of several endings or answers
    {"question": "It rained, so she", "choices": ["opened her umbrella.", "slept."], "label": 0}
    bertedu finetune multiple-choice --data data/tasks/choices
"""


class ChoiceModel(TaskModel):
    """An encoder and one score for each pair of question and choice. Of BERT: BertForMultipleChoice, the same as in
    `transformers`.
    """

    kind = "ForMultipleChoice"

    def __init__(self, encoder: Backbone, task_config: TaskConfig | None = None):
        super().__init__(encoder, task_config)
        self.dropout = nn.Dropout(self.config.head_dropout_prob)
        self.classifier = nn.Linear(self.config.hidden_size, 1)
        self.initialize()

    @classmethod
    def reads_pooler(cls, task_config: TaskConfig) -> bool:
        """Always."""
        return True

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> ClassifierOutput:
        """input_ids and the others [B, C, T], labels [B] the number of the right choice; logits come as [B, C]."""
        questions, choices, _ = input_ids.shape
        mask, types = (None if given is None else given.flatten(0, 1) for given in (attention_mask, token_type_ids))
        output = self.encoder(input_ids.flatten(0, 1), mask, types)
        pooled = self.transform(output.last_hidden_state, mask) if self.transform else output.pooler_output  # [B C, D]
        logits = self.classifier(self.dropout(pooled)).view(questions, choices)
        if labels is None:
            return ClassifierOutput(logits)
        summed = cross_entropy(logits.float(), labels, reduction="sum")
        return ClassifierOutput(logits, summed_loss=summed, counted=len(labels))


BertForMultipleChoice = ChoiceModel


class MultipleChoiceTask(FinetuningTask[Choices]):
    """Learning which choice is right."""

    best_by = "accuracy"
    networks = (ChoiceModel,)
    row_types = MappingProxyType(
        {
            **{"context": str, "question": str, "choices": list[str], "label": int, "prediction": int},
            **{"probability": float, "mistake": float},
        }
    )

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[Choices] = ()) -> list[Choices]:
        """Questions with their choices; training rows say nothing of others."""
        return read_choices(path, split)

    @classmethod
    def make(cls, train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):  # type: ignore
        """Choices that compete."""
        return with_new_head(ChoiceModel, model, settings), cls(train, validation, tokenizer, settings)

    @classmethod
    def baselines(cls, train: Sequence[Choices], test: Sequence[Choices]) -> Figures:
        """Chance, and counting words."""
        return choice_baselines(train, test)

    @classmethod
    def unit(cls, row: Choices) -> str:
        """The text that choices go on with, or the question."""
        return row.context or row.question

    @classmethod
    def check_row(cls, row: Mapping[str, Any], place: str) -> None:
        """The choices are there."""
        super().check_row(row, place)
        check_numbers((row["label"], row["prediction"]), len(row["choices"]), "choices", place)

    @classmethod
    def in_words(cls, row: Mapping[str, Any]) -> Mistake:
        """A question, the right choice and the one that was taken."""
        choices = row["choices"]
        asked = joined(part for part in (row["context"], row["question"]) if part)
        return Mistake(
            shortened(asked), choices[row["label"]], f"{choices[row['prediction']]} ({row['probability']:.0%})"
        )

    def encode(self, rows: Sequence[Choices]) -> list[Example]:
        """For each question its choices as pairs: context and question, then the choice. What is too long loses the end
        of its context, and only where that is not enough the end of question or choice.
        """
        return [{**self.encode_choices(row), "labels": row.label} for row in rows]

    def encode_choices(self, row: Choices) -> Example:
        """The pairs of one question: a row of numbers for each choice, by name."""
        tokenizer, length = self.tokenizer, self.settings.max_length
        room = length - tokenizer.layout.special_tokens(pair=True)
        context, question = tokenizer.encode(row.context), tokenizer.encode_after_space(row.question)
        pairs = []
        for choice in map(tokenizer.encode, row.choices):
            asked, said = kept_lengths(len(question), len(choice), room, "longest_first")
            read = [*context[: room - asked - said], *question[:asked]]
            pairs.append(example_of(*tokenizer.layout.sequence(read, choice[:said])))
        return {name: [pair[name] for pair in pairs] for name in pairs[0]}

    def counts(self, batch: Batch) -> dict[str, int]:
        """Questions."""
        return {"question": len(batch["labels"])}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed loss of the questions."""
        return {"question_loss": model(**batch).summed_loss}

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
        """The question and its choices, the positions of the right one and of the chosen one, and all probabilities."""
        explained = []
        for row, shares in zip(rows, predictions, strict=True):
            prediction, sure = int(shares.argmax()), rounded(shares.max())
            asked = {"context": row.context, "question": row.question, "choices": list(row.choices)}
            said: dict[str, Any] = {"label": row.label, "prediction": prediction, "probability": sure}
            said["probabilities"] = [rounded(share) for share in shares]
            explained.append({**asked, **said, "mistake": mistake(sure, prediction != row.label)})
        return explained


def choice_baselines(train: Sequence[Choices], test: Sequence[Choices]) -> dict[str, dict[str, float]]:
    """The figures of chance, and of the choice with the highest word overlap with the question and its context."""
    rng, right = random.Random("choices"), 0
    for row in test:
        asked = set(spaced_words(f"{row.context} {row.question}".lower()))
        shared = [(len(asked & set(spaced_words(choice.lower()))), rng.random()) for choice in row.choices]
        right += shared.index(max(shared)) == row.label  # lots decide between equals
    chance = sum(1 / len(row.choices) for row in test) / len(test)
    return {"chance": {"accuracy": chance}, "highest word overlap": {"accuracy": right / len(test)}}


TASK = MultipleChoiceTask
