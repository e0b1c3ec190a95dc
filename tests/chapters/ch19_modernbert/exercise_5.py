"""Answers to exercise 19.5: right ones, and mistakes with the words that they must hear."""

import torch


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
    }
}
