"""Whiteboard drill: a collate function that pads."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.interview.drills.drill import Drill

TASK = """
Write `collate(examples, pad_id)`: one batch for BERT from tokenized texts of different lengths.

    examples   a list of dictionaries, each with two lists of the same length:
               "input_ids", and "token_type_ids" (0 in the first text, 1 in the second)
    pad_id     the id of [PAD]

Return a dictionary of three tensors of type long, [B, T], where T is the length of the longest example:

    "input_ids"        padded on the right with pad_id
    "token_type_ids"   padded with 0
    "attention_mask"   1 for a token, 0 for padding

The lists in examples must stay as they are: the next epoch uses them again. An id may equal pad_id in a text, and is a
token there.

Not allowed: pad_sequence.
"""

STUB = """
import torch


def collate(examples, pad_id):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def collate(examples, pad_id):
    longest = max(len(example["input_ids"]) for example in examples)

    def padded(rows, value):
        return torch.tensor([row + [value] * (longest - len(row)) for row in rows])

    ids = [example["input_ids"] for example in examples]
    return {
        "input_ids": padded(ids, pad_id),
        "token_type_ids": padded([example["token_type_ids"] for example in examples], 0),
        "attention_mask": padded([[1] * len(row) for row in ids], 0),
    }
"""

PAD = 7
NAMES = ("input_ids", "token_type_ids", "attention_mask")
EXAMPLES = [
    {"input_ids": [2, 11, 12, 3], "token_type_ids": [0, 0, 0, 0]},
    {"input_ids": [2, 13, 3, 14, 15, 3], "token_type_ids": [0, 0, 0, 1, 1, 1]},
    {"input_ids": [2, 16, 3, 17, 3], "token_type_ids": [0, 0, 0, 1, 1]},
]


def examine(case: Case) -> None:
    """Three lengths; then a batch of one, other lengths, an id that equals pad_id."""
    case.causes = {
        "expected sequence of length": "A tensor needs lists of one length: pad each list before torch.tensor.",
        "stack expects each tensor": "torch.stack needs tensors of one length: pad each of them first.",
    }
    batch = case.call(EXAMPLES, PAD, tried="3 texts of 4, 6 and 5 tokens with pad_id 7")
    compare(case, batch, EXAMPLES)
    one = [{"input_ids": [2, 9, 3], "token_type_ids": [0, 0, 0]}]
    compare(case, case.call(one, PAD, tried="a batch of one"), one)
    inside = [
        {"input_ids": [2, PAD, 9, 3], "token_type_ids": [0, 0, 0, 0]},
        {"input_ids": [2, 3], "token_type_ids": [0, 0]},
    ]
    batch = case.call(inside, PAD, tried="a text in which a token has the id 7 itself")
    if bool((batch["attention_mask"] == (batch["input_ids"] != PAD)).all()):
        case.fail(
            "But that token is 0 in attention_mask: `input_ids != pad_id` takes it for padding.",
            "What is padding is known from the lengths.",
        )
    compare(case, batch, inside)


def expected(examples: list[dict[str, list[int]]]) -> dict[str, Tensor]:
    """The right batch."""
    longest = max(len(example["input_ids"]) for example in examples)

    def rows(read: Callable[[dict], list[int]], value: int) -> Tensor:
        return torch.tensor([read(one) + [value] * (longest - len(read(one))) for one in examples])

    return {
        "input_ids": rows(lambda one: one["input_ids"], PAD),
        "token_type_ids": rows(lambda one: one["token_type_ids"], 0),
        "attention_mask": rows(lambda one: [1] * len(one["input_ids"]), 0),
    }


def compare(case: Case, batch: Any, examples: list[dict[str, list[int]]]) -> None:
    """Not yet, unless the batch is the right one."""
    if changed := case.in_place:
        case.fail(
            f"But the lists of `{changed}` were changed: `+=`, append and extend change the example itself.",
            "In the next epoch its padding would count as text. Make new lists: `row + [pad_id] * missing`.",
        )
    right = expected(examples)
    case.is_a("the result", batch, dict, "a dictionary")
    if missing := [name for name in NAMES if name not in batch]:
        case.fail(f"But it has no {missing[0]!r}: its keys are {', '.join(map(repr, batch)) or 'none'}.")
    for name in NAMES:
        known = mistakes(right, examples)[name]
        if isinstance(batch[name], Tensor) and batch[name].shape != right[name].shape:
            wrong_shape(case, name, batch[name], right[name], known)
        case.close(name, batch[name], right[name], "Compare it with the task, row by row.", mistakes=known)
        advice = (
            "The task asks for whole numbers of type long: torch.tensor of lists of ints gives that, .long() does, too."
        )
        case.dtype(name, batch[name], torch.long, advice)


def wrong_shape(case: Case, name: str, got: Tensor, right: Tensor, known: dict[str, Tensor]) -> None:
    """A batch that is too long, too short, or lies on its side."""
    size, wanted = list(got.shape), list(right.shape)
    came = f"But {name} has the shape {size}, and {wanted} is expected."
    if size == wanted[::-1]:
        case.fail(came, "A text should be one row of the batch.")
    if len(size) == 2 and size[1] > wanted[1]:
        case.fail(came, "Pad to the longest text of this batch, not further: padding costs time.")
    if len(size) == 2 and size[1] < wanted[1]:
        case.fail(came, "The ends of the longer texts are lost: T is the length of the longest one.")


def mistakes(right: dict[str, Tensor], examples: list[dict[str, list[int]]]) -> dict[str, dict[str, Tensor]]:
    """What known mistakes give, for each of the three tensors."""
    ids, types, mask = (right[name] for name in NAMES)
    lengths = mask.sum(1).tolist()
    left = {
        name: torch.stack([row.roll(len(row) - length) for row, length in zip(right[name], lengths, strict=True)])
        for name in NAMES
    }
    on_the_left = "You pad on the left. BERT's positions count from the left, so padding goes to the right."
    return {
        "input_ids": {
            on_the_left: left["input_ids"],
            "You pad with 0, and the id of [PAD] is the argument pad_id, 7 here.": ids.masked_fill(mask == 0, 0),
        },
        "token_type_ids": {
            on_the_left: left["token_type_ids"],
            "token_type_ids are padded with pad_id. There are only types 0 and 1: pad with 0.": (
                types.masked_fill(mask == 0, PAD)
            ),
            "token_type_ids are padded with 1. The task asks for 0.": types.masked_fill(mask == 0, 1),
            "All token types are 0: the second text of a pair has type 1.": torch.zeros_like(types),
        },
        "attention_mask": {
            on_the_left: left["attention_mask"],
            "attention_mask is inverted: 1 is a token, 0 is padding.": 1 - mask,
            "attention_mask is 1 everywhere: padding would be attended to.": torch.ones_like(mask),
            "attention_mask is padded with pad_id. It holds 0 and 1 only.": mask.masked_fill(mask == 0, PAD),
            "attention_mask is 1 only where token_type_ids is not 0.": (types != 0).long(),
        },
    }


DRILL = Drill(
    name="padding-collate",
    title="A collate function that pads",
    minutes=8,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="01",
    section="Build the sequence that BERT reads",
    hints=(
        "T is the longest length in this batch. What is each of the three padded with?",
        "row + [value] * (T - len(row)) makes a new list. The mask is [1] * len(row), padded with 0.",
    ),
    examine=examine,
    without=("pad_sequence",),
)
