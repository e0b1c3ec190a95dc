"""From encoded texts to padded batches of about one length."""

import hashlib
import json
import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from bertedu.errors import UserError
from bertedu.model.heads import IGNORED
from bertedu.tokenization import Tokenizer
from bertedu.training.batching import bucketed

Example = dict[str, Any]  # one text or pair: rows of numbers by name, and single numbers
POOL = 16  # batches that are sorted by length together
EVALUATION_BATCH = 64


def encode_text(tokenizer: Tokenizer, text: str, pair: str | None, max_length: int) -> Example:
    """One text or pair as input_ids, token_type_ids and attention_mask, not padded."""
    encoding = tokenizer(text, pair, max_length=max_length)
    return {name: encoding[name][0].tolist() for name in encoding}


def example_of(input_ids: list[int], token_type_ids: list[int]) -> Example:
    """A sequence as an example without padding."""
    return {"input_ids": input_ids, "token_type_ids": token_type_ids, "attention_mask": [1] * len(input_ids)}


def collate(examples: Sequence[Example], pad_token_id: int) -> dict[str, Tensor]:
    """Examples as tensors: rows padded to the longest to [B, T], lists of rows (choices) to [B, C, T], single numbers
    [B]. Padding has no label. Raises UserError where examples have different numbers of choices.
    """
    batch = {}
    for name in examples[0]:
        values = [example[name] for example in examples]
        filler = pad_token_id if name.endswith("input_ids") else IGNORED if name == "labels" else 0
        batch[name] = torch.tensor(padded(values, filler))
    return batch


def padded(values: Sequence[Any], filler: int) -> Sequence[Any]:
    """Rows, or lists of rows, filled up to the longest row; single numbers as they are."""
    if not isinstance(values[0], list):
        return values
    if values[0] and isinstance(values[0][0], list):
        choices = {len(rows) for rows in values}
        if len(choices) > 1:
            raise UserError(
                f"there are examples with {' and with '.join(map(str, sorted(choices)))} choices: give all "
                "the same number."
            )
        longest = max(len(row) for rows in values for row in rows)
        return [[row + [filler] * (longest - len(row)) for row in rows] for rows in values]
    longest = max(map(len, values))
    return [row + [filler] * (longest - len(row)) for row in values]


def tokens_of(example: Example) -> int:
    """How long the (longest) row of an example is."""
    ids = example["input_ids"]
    return max(map(len, ids)) if ids and isinstance(ids[0], list) else len(ids)


class ExampleBatches(Sequence[dict[str, Tensor]]):
    """Batches of examples of about one length. With rng in random order, without it the shortest first.

    `order` holds the number of each example in the order in which the batches bring them.
    """

    def __init__(
        self, examples: Sequence[Example], batch_size: int, pad_token_id: int, rng: random.Random | None = None
    ):
        self.examples, self.pad_token_id = examples, pad_token_id
        numbers = list(range(len(examples)))
        if rng:
            rng.shuffle(numbers)
        pool = POOL * batch_size if rng else len(numbers) or 1
        self.batches = bucketed(numbers, lambda number: tokens_of(examples[number]), batch_size, pool)
        if rng:
            rng.shuffle(self.batches)
        self.order = [number for batch in self.batches for number in batch]

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index):  # type: ignore[override]
        return collate([self.examples[number] for number in self.batches[index]], self.pad_token_id)


def digest(examples: Sequence[Example]) -> str:
    """A short name for exactly these examples."""
    found = hashlib.sha256()
    for example in examples:
        found.update(json.dumps(example).encode() + b"\n")
    return found.hexdigest()[:16]
