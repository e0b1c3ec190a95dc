"""Answers to exercises 19.4 and 19.5: right ones, and mistakes with the words that they must hear."""

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


def in_three_parts(weight, num_heads):
    return by_axes(weight, num_heads).chunk(3)


def by_axes(weight, num_heads):
    parts = weight.view(3, num_heads, 2, -1, weight.size(1))
    parts = torch.cat([parts[:2].transpose(2, 3).reshape(2, num_heads, -1, weight.size(1)), parts[2:].flatten(2, 3)])
    return parts.reshape(weight.shape)


def by_numbers(weight, num_heads):
    d = len(weight) // 3 // num_heads
    within = [number for k in range(d // 2) for number in (k, k + d // 2)]
    rows = list(range(len(weight)))
    for start in range(0, 2 * num_heads * d, d):
        rows[start : start + d] = [start + number for number in within]
    return weight[rows]


def with_stack(weight, num_heads):
    new = weight.clone()
    d = len(weight) // (3 * num_heads)
    for head in range(2 * num_heads):
        rows = weight[head * d : (head + 1) * d]
        new[head * d : (head + 1) * d : 2], new[head * d + 1 : (head + 1) * d : 2] = rows[: d // 2], rows[d // 2 :]
    return new


def order(weight, num_heads, parts=2, back=False):
    shape = (num_heads, -1, 2) if back else (num_heads, 2, -1)
    rows = [
        part.unflatten(0, shape).transpose(1, 2).reshape(part.shape) if n < parts else part
        for n, part in enumerate(weight.chunk(3))
    ]
    return torch.cat(rows)


def values_too(weight, num_heads):
    return order(weight, num_heads, parts=3)


def queries_only(weight, num_heads):
    return order(weight, num_heads, parts=1)


def backwards(weight, num_heads):
    return order(weight, num_heads, back=True)


def all_heads_together(weight, num_heads):
    return order(weight, 1)


def the_columns(weight, num_heads):
    return weight.unflatten(1, (num_heads, 2, -1)).transpose(2, 3).reshape(weight.shape)


def as_it_was(weight, num_heads):
    return weight


def without_values(weight, num_heads):
    return order(weight, num_heads)[: 2 * len(weight) // 3]


def head_after_head(weight, num_heads):
    rows = weight.view(num_heads, 3, 2, -1, weight.size(1)).clone()
    rows[:, :2] = rows[:, :2].transpose(2, 3).reshape(rows[:, :2].shape)
    return rows.reshape(weight.shape)


def in_place(weight, num_heads):
    weight.copy_(order(weight, num_heads))
    return weight


def without_the_three(weight, num_heads):
    return weight.unflatten(0, (num_heads, 2, -1)).transpose(1, 2).reshape(weight.shape)


def size_of_the_lab(weight, num_heads):
    order = [number for k in range(8) for number in (k, k + 8)]
    rows = torch.cat([16 * head + torch.tensor(order) for head in range(2 * num_heads)])
    return torch.cat([weight[rows], weight[len(rows) :]])


def not_flat(weight, num_heads):
    parts = weight.view(3, num_heads, 2, -1, weight.size(1))
    return torch.cat([parts[:2].transpose(2, 3), parts[2:]])


def overwriting(weight, num_heads):
    d, new = len(weight) // 3 // num_heads, weight.clone()
    for start in range(0, 2 * num_heads * d, d):
        for k in range(d // 2):
            new[start + 2 * k] = new[start + k]
            new[start + 2 * k + 1] = new[start + k + d // 2]
    return new


def part_by_part(weight, num_heads):
    query, key, value = weight.chunk(3)
    moved = [x.unflatten(0, (num_heads, 2, -1)).permute(0, 2, 1, 3).flatten(0, 2) for x in (query, key)]
    return torch.cat([*moved, value])


def viewed(weight, num_heads):
    return weight.view(3, num_heads, 2, -1, weight.size(1)).transpose(2, 3).view(weight.shape)


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
    },
    "19.5": {
        "accepted": [by_axes, by_numbers, with_stack, part_by_part],
        "wrong": [
            (in_three_parts, "put the parts together again"),
            (values_too, "reordered the values too"),
            (queries_only, "queries only"),
            (backwards, "the other direction"),
            (all_heads_together, "all heads together"),
            (the_columns, "reordered the columns"),
            (as_it_was, "as it was"),
            (head_after_head, "all queries come first"),
            (in_place, "in place"),
            (viewed, "use reshape, not view"),
            (without_the_three, "3 · num_heads blocks"),
            (size_of_the_lab, "Count the rows"),
            (not_flat, "back to [rows, D]"),
            (overwriting, "wrote over rows"),
            (without_values, "All rows are expected"),
        ],
    },
}
