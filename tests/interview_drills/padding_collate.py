"""Answers to the drill padding-collate: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.utils.rnn import pad_sequence


def padded(rows, value, length=None, left=False):
    length = length or max(map(len, rows))
    fill = [[value] * (length - len(row)) for row in rows]
    return torch.tensor([more + row if left else row + more for row, more in zip(rows, fill, strict=True)])


def plainly(examples, pad_id, types=0, fill=0, left=False, length=None):
    ids = [one["input_ids"] for one in examples]
    return {
        "input_ids": padded(ids, pad_id, length, left),
        "token_type_ids": padded([one["token_type_ids"] for one in examples], types, length, left),
        "attention_mask": padded([[1] * len(row) for row in ids], fill, length, left),
    }


def filled_in(examples, pad_id):
    lengths = [len(one["input_ids"]) for one in examples]
    shape = len(examples), max(lengths)
    batch = {
        "attention_mask": torch.zeros(shape, dtype=torch.int64),
        "token_type_ids": torch.zeros(shape, dtype=torch.long),
        "input_ids": torch.full(shape, pad_id),
    }
    for row, (one, length) in enumerate(zip(examples, lengths, strict=True)):
        batch["input_ids"][row, :length] = torch.tensor(one["input_ids"])
        batch["token_type_ids"][row, :length] = torch.tensor(one["token_type_ids"])
        batch["attention_mask"][row, :length] = 1
    return batch


def by_lengths(examples, pad_id):
    lengths = torch.tensor([len(one["input_ids"]) for one in examples])
    mask = torch.arange(int(lengths.max()))[None] < lengths[:, None]
    ids, types = torch.full(mask.shape, pad_id), torch.zeros(mask.shape, dtype=torch.long)
    ids[mask] = torch.tensor([i for one in examples for i in one["input_ids"]])
    types[mask] = torch.tensor([i for one in examples for i in one["token_type_ids"]])
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask.long()}


def on_the_left(examples, pad_id):
    return plainly(examples, pad_id, left=True)


def with_zero(examples, pad_id):
    return plainly(examples, 0)


def types_with_pad_id(examples, pad_id):
    return plainly(examples, pad_id, types=pad_id)


def inverted(examples, pad_id):
    batch = plainly(examples, pad_id)
    return batch | {"attention_mask": 1 - batch["attention_mask"]}


def mask_of_ones(examples, pad_id):
    return plainly(examples, pad_id, fill=1)


def by_the_id(examples, pad_id):
    batch = plainly(examples, pad_id)
    return batch | {"attention_mask": (batch["input_ids"] != pad_id).long()}


def always_512(examples, pad_id):
    return plainly(examples, pad_id, length=512)


def unpadded(examples, pad_id):
    return {name: torch.tensor([one[name] for one in examples]) for name in ("input_ids", "token_type_ids")}


def cut_to_the_shortest(examples, pad_id):
    shortest = min(len(one["input_ids"]) for one in examples)
    cut = [{name: row[:shortest] for name, row in one.items()} for one in examples]
    return plainly(cut, pad_id)


def appends(examples, pad_id):
    longest = max(len(one["input_ids"]) for one in examples)
    mask = [[1] * len(one["input_ids"]) + [0] * (longest - len(one["input_ids"])) for one in examples]
    for one in examples:
        while len(one["input_ids"]) < longest:
            one["input_ids"].append(pad_id)
            one["token_type_ids"].append(0)
    batch = {name: torch.tensor([one[name] for one in examples]) for name in ("input_ids", "token_type_ids")}
    return batch | {"attention_mask": torch.tensor(mask)}


def no_types(examples, pad_id):
    batch = plainly(examples, pad_id)
    del batch["token_type_ids"]
    return batch


def lists(examples, pad_id):
    return {name: tensor.tolist() for name, tensor in plainly(examples, pad_id).items()}


def floats(examples, pad_id):
    return {name: tensor.float() for name, tensor in plainly(examples, pad_id).items()}


def mask_of_booleans(examples, pad_id):
    batch = plainly(examples, pad_id)
    return batch | {"attention_mask": batch["attention_mask"].bool()}


def torchs(examples, pad_id):
    rows = [torch.tensor(one["input_ids"]) for one in examples]
    return plainly(examples, pad_id) | {"input_ids": pad_sequence(rows, batch_first=True, padding_value=pad_id)}


def a_tuple(examples, pad_id):
    return tuple(plainly(examples, pad_id).values())


ANSWERS = {
    "padding-collate": {
        "accepted": [plainly, filled_in, by_lengths],
        "wrong": [
            (on_the_left, "pad on the left"),
            (with_zero, "the argument pad_id"),
            (types_with_pad_id, "only types 0 and 1"),
            (inverted, "attention_mask is inverted"),
            (mask_of_ones, "is 1 everywhere"),
            (by_the_id, "takes it for padding"),
            (always_512, "not further"),
            (unpadded, "pad each list"),
            (cut_to_the_shortest, "ends of the longer texts"),
            (appends, "change the example itself"),
            (no_types, "no 'token_type_ids'"),
            (lists, "should be a tensor"),
            (floats, "whole numbers"),
            (mask_of_booleans, "has the type bool"),
            (torchs, "uses `pad_sequence`"),
            (a_tuple, "should be a dictionary"),
        ],
    },
}
