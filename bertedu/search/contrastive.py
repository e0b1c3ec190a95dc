"""Learning to search: the passage that answers a question against all others of the batch.

InfoNCE (van den Oord et al. 2018) with in-batch and hard negatives (Karpukhin et al. 2020, section 3.2).
Shapes: B questions of a batch, C passages of each (the right one first, then its hard negatives), T tokens.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.errors import UserError
from bertedu.finetuning.examples import Example, ExampleBatches, digest, encode_text
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.search.collection import Asked
from bertedu.search.hits import best_hits
from bertedu.search.measures import mrr_at, recall_at
from bertedu.search.retriever import Retriever, score_all
from bertedu.tokenization import Tokenizer
from bertedu.training.task import Batch

NAMES = ("input_ids", "attention_mask", "token_type_ids")
PASSAGE = "passage_"  # before the names of the passages' numbers


def contrastive_scores(scores: Tensor, passages: Tensor, right: Tensor) -> Tensor:
    """Scores [B, B C] without the columns that hold a question's right passage once more: they become -inf.

    passages [B C] says which passage each column is, right [B] which column is the right one. Two questions of a batch
    may have the same passage: as a negative it would teach that the right answer is wrong.
    """
    same = passages[right].unsqueeze(1) == passages.unsqueeze(0)  # [B, B C]
    same[torch.arange(len(right), device=right.device), right] = False
    return scores.masked_fill(same, -torch.inf)


class ContrastiveTask:
    """A `training.task.Task`: whichever retriever it is, its score of the right passage is to be the highest.

    passages are those of the whole collection; rows name them by number, and all have as many hard negatives. The
    validation rows are searched for in the passages that answer one of them.
    """

    def __init__(
        self,
        retriever: Retriever,
        train: Sequence[Asked],
        validation: Sequence[Asked],
        passages: Sequence[str],
        tokenizer: Tokenizer,
        settings: FinetuningSettings,
    ):
        if not train:
            raise UserError("there is nothing to train on: the training data hold no question.")
        if len({len(row.negatives) for row in train}) > 1:
            raise UserError("some questions have more hard negatives than others: give all the same number.")
        self.retriever, self.validation_rows, self.passages = retriever, validation, passages
        self.tokenizer, self.settings = tokenizer, settings
        self.encoded: dict[int, Example] = {}
        self.examples = [self.encode(row) for row in train]

    @property
    def loss_weights(self) -> Mapping[str, float]:
        """The contrastive loss weighs 1, the retriever's penalties what it says."""
        return self.retriever.penalty_weights

    def encode(self, row: Asked) -> Example:
        """A question, its passages [C, T], and their numbers [C]."""
        numbers = [row.passage, *row.negatives]
        texts = [self.encode_passage(number) for number in numbers]
        of_passages = {PASSAGE + name: [text[name] for text in texts] for name in NAMES}
        question = encode_text(self.tokenizer, row.question, None, self.settings.max_length)
        return {**question, **of_passages, "passages": numbers}

    def encode_passage(self, number: int) -> Example:
        """A passage is encoded once, however many questions name it."""
        if number not in self.encoded:
            self.encoded[number] = encode_text(self.tokenizer, self.passages[number], None, self.settings.max_length)
        return self.encoded[number]

    def identity(self) -> dict[str, Any]:
        """The settings, the kind of search and its weights, and the data as digests."""
        kind = type(self.retriever)
        validation = digest([{"question": row.question, "passage": row.passage} for row in self.validation_rows])
        about = {"retriever": kind.__name__, "temperature": self.retriever.temperature, **self.loss_weights}
        return {**self.settings.identity(), **about, "examples": digest(self.examples), "validation": validation}

    def epoch(self, number: int) -> ExampleBatches:
        """The batches of one pass, in an order of their own."""
        rng = random.Random(f"{self.settings.seed} pass {number}")
        return ExampleBatches(self.examples, self.settings.batch_size, self.tokenizer.pad_token_id, rng)

    def prepare(self, batch: Batch, step: int, share: float) -> Batch:
        """The batch with how far the run is, [B]: penalties begin at 0 and grow (Formal et al. 2021, section 4)."""
        return {**batch, "share": torch.full((len(batch["input_ids"]),), share)}

    def counts(self, batch: Batch) -> dict[str, int]:
        """Questions, for each loss: the penalties are means of a batch, and weigh as much as it has questions."""
        count = len(batch["input_ids"])
        return {"contrast": count} | {name.removesuffix("_loss"): count for name in self.loss_weights}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed cross-entropy of the right passages, how many of them score highest, and the penalties."""
        questions = self.retriever.represent(model, *(batch[name] for name in NAMES))
        passages = self.retriever.represent(model, *(batch[PASSAGE + name].flatten(0, 1) for name in NAMES))
        with torch.autocast(batch["input_ids"].device.type, enabled=False):  # 16 bits are too few for close scores
            scores = self.retriever.match(questions, passages) / self.retriever.temperature  # [B, B C]
        count, choices = batch["passages"].shape
        right = choices * torch.arange(count, device=scores.device)
        scores = contrastive_scores(scores, batch["passages"].flatten(), right)
        found = {
            "contrast_loss": cross_entropy(scores, right, reduction="sum"),
            "contrast_accuracy": (scores.argmax(dim=-1) == right).sum(),
        }
        pressure = min(1.0, 2 * float(batch["share"][0])) ** 2 if "share" in batch else 1.0
        penalties = self.retriever.penalties(questions, passages)
        return found | {name: pressure * count * value for name, value in penalties.items()}

    def validate(self, model: Any, device: torch.device) -> dict[str, float]:
        """recall@10 and MRR@10 of the validation questions; nothing where there are none."""
        rows = self.validation_rows
        if not rows:
            return {}
        numbers = sorted({row.passage for row in rows})
        questions, passages = [row.question for row in rows], [self.passages[number] for number in numbers]
        scores = score_all(self.retriever, model, self.tokenizer, questions, passages, self.settings.max_length)
        hits, right = best_hits(scores.numpy(), 10), [{numbers.index(row.passage)} for row in rows]
        return {"recall_at_10": recall_at(hits, right, 10), "mrr": mrr_at(hits, right, 10)}

    def quality(self, figures: dict[str, float]) -> float:
        """The best weights are those with the highest MRR."""
        return figures["mrr"]
