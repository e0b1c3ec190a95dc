"""Answers to exercise 19.4: right ones, and mistakes with the words that they must hear."""

import torch


def by_the_mask(input_ids, attention_mask):
    real = attention_mask.bool()
    ends = attention_mask.sum(dim=1).cumsum(dim=0)
    return input_ids[real], (attention_mask.cumsum(dim=1) - 1)[real], torch.cat([ends.new_zeros(1), ends])


def with_lists(input_ids, attention_mask):
    ids, positions, offsets = [], [], [0]
    for row, mask in zip(input_ids.tolist(), attention_mask.tolist(), strict=True):
        kept = [id for id, one in zip(row, mask, strict=True) if one]
        ids += kept
        positions += range(len(kept))
        offsets.append(len(ids))
    return torch.tensor(ids), torch.tensor(positions), torch.tensor(offsets, dtype=torch.int32)


def row_by_row(input_ids, attention_mask):
    texts = [row[mask == 1] for row, mask in zip(input_ids, attention_mask, strict=True)]
    offsets = torch.nn.functional.pad(torch.tensor([len(text) for text in texts]).cumsum(0), (1, 0))
    return torch.cat(texts), torch.cat([torch.arange(len(text)) for text in texts]), offsets


def from_the_left(input_ids, attention_mask):
    lengths = attention_mask.sum(dim=1).tolist()
    ids = torch.cat([row[:length] for row, length in zip(input_ids, lengths, strict=True)])
    positions = torch.cat([torch.arange(length) for length in lengths])
    return ids, positions, torch.tensor([0, *lengths]).cumsum(dim=0)


def by_the_ids(input_ids, attention_mask):
    return by_the_mask(input_ids, (input_ids != 0).long())


def running_on(input_ids, attention_mask):
    ids, _, offsets = by_the_mask(input_ids, attention_mask)
    return ids, torch.arange(len(ids)), offsets


def columns_as_positions(input_ids, attention_mask):
    ids, _, offsets = by_the_mask(input_ids, attention_mask)
    return ids, attention_mask.nonzero()[:, 1], offsets


def positions_from_one(input_ids, attention_mask):
    ids, positions, offsets = by_the_mask(input_ids, attention_mask)
    return ids, positions + 1, offsets


def without_zero(input_ids, attention_mask):
    ids, positions, offsets = by_the_mask(input_ids, attention_mask)
    return ids, positions, offsets[1:]


def without_end(input_ids, attention_mask):
    ids, positions, offsets = by_the_mask(input_ids, attention_mask)
    return ids, positions, offsets[:-1]


def only_lengths(input_ids, attention_mask):
    ids, positions, _ = by_the_mask(input_ids, attention_mask)
    return ids, positions, attention_mask.sum(dim=1)


def multiplied(input_ids, attention_mask):
    return (input_ids * attention_mask).flatten(), *by_the_mask(input_ids, attention_mask)[1:]


def the_padding(input_ids, attention_mask):
    return input_ids[attention_mask == 0], *by_the_mask(input_ids, attention_mask)[1:]


def by_columns(input_ids, attention_mask):
    return input_ids.T[attention_mask.T.bool()], *by_the_mask(input_ids, attention_mask)[1:]


def numbers_as_indices(input_ids, attention_mask):
    return input_ids[attention_mask], *by_the_mask(input_ids, attention_mask)[1:]


def positions_in_a_rectangle(input_ids, attention_mask):
    ids, _, offsets = by_the_mask(input_ids, attention_mask)
    return ids, attention_mask.cumsum(dim=1) - 1, offsets


def ids_alone(input_ids, attention_mask):
    return input_ids[attention_mask.bool()]


def zero_without_axis(input_ids, attention_mask):
    ids, positions, offsets = by_the_mask(input_ids, attention_mask)
    return ids, positions, torch.cat([torch.tensor(0), offsets[1:]])


def zero_without_a_tensor(input_ids, attention_mask):
    ids, positions, offsets = by_the_mask(input_ids, attention_mask)
    return ids, positions, torch.cat([0, offsets[1:]])


def offsets_as_floats(input_ids, attention_mask):
    ids, positions, offsets = by_the_mask(input_ids, attention_mask)
    return ids, positions, torch.cat([torch.zeros(1), offsets[1:]])


def positions_first(input_ids, attention_mask):
    ids, positions, offsets = by_the_mask(input_ids, attention_mask)
    return positions, ids, offsets


def sums_of_columns(input_ids, attention_mask):
    ids, positions, _ = by_the_mask(input_ids, attention_mask)
    return ids, positions, attention_mask.sum(dim=0).cumsum(dim=0)


def with_nonzero(input_ids, attention_mask):
    text, column = attention_mask.nonzero(as_tuple=True)
    lengths = torch.bincount(text, minlength=len(attention_mask))
    offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    return input_ids[text, column], column - attention_mask.argmax(dim=1)[text], offsets


ANSWERS = {
    "19.4": {
        "accepted": [by_the_mask, with_lists, row_by_row, with_nonzero],
        "wrong": [
            (from_the_left, "can be on the left"),
            (by_the_ids, "You went by the ids"),
            (running_on, "run on from text to text"),
            (columns_as_positions, "columns of the rectangle"),
            (positions_from_one, "counted from 1"),
            (without_zero, "0 in front is missing"),
            (without_end, "end of the last text is missing"),
            (only_lengths, "These are the lengths"),
            (multiplied, "padding is still in it"),
            (the_padding, "This is the padding"),
            (by_columns, "row by row"),
            (numbers_as_indices, "picks the rows 0 and 1"),
            (positions_in_a_rectangle, "one axis is expected"),
            (ids_alone, "3 things are asked for"),
            (zero_without_axis, "wants tensors with an axis"),
            (zero_without_a_tensor, "wants tensors with an axis"),
            (offsets_as_floats, "slice wants integers"),
            (positions_first, "These are the positions"),
            (sums_of_columns, "You counted the columns"),
        ],
    }
}
